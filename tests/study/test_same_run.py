"""Two variants that are one run are refused, however either is written; in a report no run is compared with itself."""

import json
import sys
from pathlib import Path

import pytest

from tests.helpers import composed
from tests.study.simulated import noisy, write_study
from zoo.command.compose import compose
from zoo.config import plain
from zoo.errors import UserError
from zoo.study.alike import alike
from zoo.study.composed import refuse_unsound
from zoo.study.plan import Plan
from zoo.study.report.page import built
from zoo.study.unnamed import unnamed_study

PAIRS = ("model=transformer_2017", "data=toy_translation")


def check(*words: str) -> None:
    """Raise what a sweep of these words is refused for before it starts."""
    plan = Plan(*unnamed_study(words))
    alone = [job for job in plan.first() if job.seed == plan.study.seeds[0]]
    refuse_unsound(plan.study, ((job, plain(compose(job.overrides))) for job in alone))


SAME = {
    "a bias": ("model.ffn.bias=null,false",),
    "widths of heads": ("model.mixer.head_dim=16,null", "model.d_model=64", "model.n_heads=4"),
    "heads": ("model.mixer.n_kv_heads=null,2,4", "model.n_heads=4"),
    "a hidden width": ("model/ffn=relu", "model.d_model=64", "model.ffn.d_ff=null,256"),
    "an expert": ("model/ffn=moe", "model.ffn.expert.bias=null,false"),
    "depths": (*PAIRS, "model.n_layers=2", "model.topology.n_encoder_layers=null,2"),
    "a number": ("model.dropout=0,0.0",),
    "numbers of a list": ("optimizer=adamw", "optimizer.betas=[0,0.9],[0.0,0.9]"),
    "a number of the data": ("data=toy", "data.recall=0.5,5e-1", "seed=3"),
    "a zero below zero": ("schedule.warmup=0.0,-0.0",),
}
DIFFERENT = {
    "a bias": ("model.ffn.bias=null,true",),
    "a window": ("model.mixer.window=null,8,16",),
    "data": ("data=toy", "data.recall=0.25,0.5"),
    "files of pairs": (PAIRS[0], "data=pairs", "data.path=a.txt", "data.target_path=null,b.txt"),
    "references": ("match=params", "model/ffn=relu", "match.reference=null,gpt2"),
    "bad input": ("model.ffn.bias=null,7",),
    "seeds": ("seed=1,2",),
}


@pytest.mark.parametrize("case", SAME)
def test_variants_that_are_one_run_are_refused(case: str) -> None:
    with pytest.raises(UserError, match="are the same run"):
        check(*SAME[case])


@pytest.mark.parametrize("case", DIFFERENT)
def test_variants_that_are_two_runs_are_not(case: str) -> None:
    check(*DIFFERENT[case])


def test_variants_that_say_different_things_are_told_apart_without_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zoo.study.known", None)  # an import would raise
    check("model/norm=none,rmsnorm,layernorm", "model.dropout=0.1,0.2", "optimizer.lr=1e-3,2e-3", "seed=1,2")


def test_a_cross_mixer_that_is_there_without_being_said_is_the_same_run() -> None:
    unsaid, said = (composed(*PAIRS), composed(*PAIRS, "model/mixer@model.cross=mha"))
    assert alike([unsaid, said, composed(*PAIRS, "model/mixer@model.cross=mqa")]) == [0, 1, 2]


def test_only_what_one_of_both_leaves_out_or_writes_otherwise_is_doubtful() -> None:
    one = {"model": {"name": "a", "width": 2, "bias": None}}
    assert alike([one, {"model": {"name": "a", "width": 2.0}}, {"model": {"name": "a", "width": 3}}]) == [0, 1]
    assert alike([one, {"model": {"name": "b", "width": 2, "bias": True}}]) == []
    assert alike([{"x": 1, "y": None}, {"x": 1, "y": 2}, {"x": 1, "y": 3}]) == [0, 1, 2]
    assert alike([]) == []


def test_a_report_compares_no_run_with_itself(tmp_path: Path) -> None:
    """As of data that is named in two ways, or of models that `match=` makes one; the reference keeps its run."""
    names = ("other", "base")
    folder = write_study(tmp_path, noisy(dict.fromkeys(names, 0.0)), names, range(3), reference="base")
    for file in folder.glob("[0-9].json"):
        note = json.loads(file.read_text())
        file.write_text(json.dumps({**note, "folder": f"../../run-{3 + int(file.stem) % 3}"}))
    (row,) = built(folder).findings.rows
    assert (row.verdict, row.pairs) == ("not comparable", ())
    assert row.why == "`other`: it is the same run as that of `base`"
