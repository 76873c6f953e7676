"""evaluate.py study=<folder>, as it is typed."""

import resource
import subprocess
import sys
from pathlib import Path

from tests.commands.conftest import ROOT, TINY, Command
from tests.study.simulated import noisy, write_study

BLOCKED = """
import runpy, sys
class Forbid:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "transformers"):
            raise AssertionError(f"{name} was imported")
sys.meta_path.insert(0, Forbid())
sys.argv = sys.argv[1:]
sys.path.insert(0, ".")
runpy.run_path("evaluate.py", run_name="__main__")
"""


def test_real_runs_become_a_report(command: Command, text: Path, tmp_path: Path) -> None:
    for norm in ("rmsnorm", "layernorm"):
        done = command("train", "data=text", f"data.path={text.name}", f"model/norm={norm}", *TINY)
        assert done.code == 0, done.err
    done = command("evaluate", "study=runs")
    assert done.code == 0, done.err
    assert "not enough seeds" in done.out
    report = (tmp_path / "runs" / "report.md").read_text()
    assert "n = 1, no spread" in report
    assert "model.norm.name" in report


def test_bad_input_is_one_sentence(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for words, sentence in (
        (["study=nowhere"], "no folder nowhere"),
        (["study='it\\'s'"], "no folder it's;"),
        (["study=empty"], "empty is no study"),
        (["study=empty", "batches=2"], "leave out batches=2"),
        (["run=somewhere", "study=empty"], "leave out run=somewhere"),
    ):
        done = command("evaluate", *words)
        assert done.code == 2
        assert sentence in done.err
        assert done.err.count("\n") == 1


def test_a_thousand_runs_take_seconds_and_no_torch(tmp_path: Path) -> None:
    names = ("base", *(f"v{i}" for i in range(9)))
    effects = {name: -0.002 * place for place, name in enumerate(names)}
    folder = write_study(tmp_path, noisy(effects), names, range(100), run={name: {"lines": 100} for name in names})
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, "evaluate.py", f"study={folder}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 10
    assert (folder / "report.html").stat().st_size < 7_000_000
    assert (folder / "results.csv").read_text().count("\n") == 1001
