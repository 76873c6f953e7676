"""Whether the options of two runs are the same code: the numbers of one that was edited, or whose arithmetic changed
since, are of another option with the same name."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zoo.jobs.identity import CODE, VERSION
from zoo.study.run import Run

Codes = Mapping[str, tuple[Any, Any]]
"""By place and name of an option: the hash of a plugin's code, and the version."""


def common_code(runs: Sequence[Run]) -> Codes:
    """What most of these runs have of each option, the first of several."""
    found: dict[str, Counter[tuple[Any, Any]]] = {}
    for run in runs:
        for option, code in _options(run.science, ""):
            found.setdefault(option, Counter())[code] += 1
    return {option: codes.most_common(1)[0][0] for option, codes in found.items()}


def other_code(run: Run, common: Codes) -> str:
    """Which options of the run are other code, as a sentence; nothing where all are the same."""
    differing = [option for option, code in _options(run.science, "") if common.get(option, code) != code]
    return f"{', '.join(differing)}: its code is another one than that of most runs" if differing else ""


def _options(node: Any, place: str) -> Iterator[tuple[str, tuple[Any, Any]]]:
    if not isinstance(node, Mapping):
        return
    if "name" in node:
        yield f"{place} '{node['name']}'", (str(node.get(CODE)), str(node.get(VERSION, 1)))
    for key, inner in node.items():
        yield from _options(inner, f"{place}.{key}".lstrip("."))
