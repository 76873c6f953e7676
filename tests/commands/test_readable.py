"""Files and functions stay short enough to be read at once."""

import ast

from tests.commands.conftest import ROOT

FILES = [*sorted((ROOT / "zoo").rglob("*.py")), ROOT / "train.py", ROOT / "evaluate.py"]


def test_no_file_is_longer_than_220_lines() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in FILES}
    assert not {name: length for name, length in lengths.items() if length > 220}


def test_no_function_is_longer_than_60_lines() -> None:
    long = {}
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
                length = node.end_lineno - node.lineno + 1
                if length > 60:
                    long[f"{file.relative_to(ROOT)}:{node.name}"] = length
    assert not long
