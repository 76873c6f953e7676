"""What `auto` chooses follows from config, machine and a kept measurement; what it may choose trains alike."""

import json
import runpy
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.helpers import composed
from zoo.assembly import build_model
from zoo.config import parse, parse_model
from zoo.errors import UserError
from zoo.experiment import Runtime
from zoo.jobs.parts import forward_of, place
from zoo.jobs.prepared import work_of
from zoo.objective import Task
from zoo.option import Option
from zoo.training import capability, runtime
from zoo.training.forward import Blocks, Whole
from zoo.training.loop import fit
from zoo.training.optimizer import optimizers
from zoo.training.runtime import Machinery, Work, resolve
from zoo.training.schedule import schedules

ROOT = Path(__file__).resolve().parents[2]
AUTO = Runtime(device="cpu", dtype="auto", attention="auto", compile="auto", threads=1)
SHORT, LONG = Work(128, flops=1e12), Work(128, flops=1e15)


@pytest.fixture
def speeds(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """What the machine is found to do, and how often it was looked at."""
    found = {"float32": 100.0, "bfloat16": 400.0, "looks": 0}

    def measure() -> dict[str, float]:
        found["looks"] += 1
        return {name: found[name] for name in ("float32", "bfloat16")}

    monkeypatch.setattr(capability, "product_speeds", measure)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    monkeypatch.setattr(runtime, "can_compile", lambda device: True)
    return found


def chosen(cache: Path, asked: Runtime = AUTO, *more: Any) -> tuple[str, str, bool]:
    machinery = resolve(asked, str(cache), *more)
    return machinery.dtype, machinery.attention, machinery.compile


def test_auto_goes_by_measured_speed_by_length_and_by_work(tmp_path: Path, speeds: dict[str, float]) -> None:
    assert chosen(tmp_path, AUTO, SHORT) == ("bfloat16", "products", False)
    assert chosen(tmp_path, AUTO, LONG) == ("bfloat16", "products", True)
    assert chosen(tmp_path, AUTO, replace(LONG, compiles=False)) == ("bfloat16", "products", False)
    assert chosen(tmp_path, AUTO, replace(LONG, context=1024)) == ("bfloat16", "fused", True)
    assert chosen(tmp_path, replace(AUTO, dtype="float32"), SHORT) == ("float32", "fused", False)
    assert chosen(tmp_path) == ("bfloat16", "fused", False)  # to score: no training that compiling could pay for


def test_logits_are_in_blocks_where_they_are_many_or_few_count(tmp_path: Path) -> None:
    asked = replace(AUTO, dtype="float32", attention="plain", compile=False, logits="auto")

    def way(asked: Runtime, *work: Work) -> str:
        return resolve(asked, str(tmp_path), *work).logits

    few, many = Work(128, flops=0.0, logits=32 * 128 * 256), Work(128, flops=0.0, logits=32 * 128 * 4096)
    assert [way(asked), way(asked, few), way(asked, many)] == ["whole", "whole", "blocks"]
    assert way(asked, replace(few, scored=0.15)) == "blocks"
    assert [way(replace(asked, logits=one), many) for one in ("whole", "blocks")] == ["whole", "blocks"]
    first, second = (resolve(asked, str(tmp_path), work, tmp_path) for work in (many, few))  # of one study
    assert first == second
    assert "logits in blocks" in first.words()
    assert "logits" not in resolve(asked, str(tmp_path), few).words()


def test_a_record_that_tells_of_no_logits_had_all_of_them() -> None:
    machinery = Machinery("cpu", "float32", "plain", False, 1, "2")
    before = {key: value for key, value in machinery.as_dict().items() if key != "logits"}
    assert not machinery.differs(before)
    assert replace(machinery, logits="blocks").differs(before) == "runtime.logits=whole instead of blocks"


def test_what_differs_is_named_as_it_can_be_set() -> None:
    before = Machinery("cpu", "float32", "plain", True, 2, "2.1").as_dict()
    said = Machinery("cpu", "float32", "plain", False, 1, "2.2").differs(before)
    assert (
        said
        == "runtime.compile=true instead of false, runtime.threads=2 instead of 1, torch_version=2.1 instead of 2.2"
    )


def test_what_a_run_is_to_compute_is_read_from_its_config() -> None:
    work = work_of(parse(composed("budget.batch_size=3", "budget.context=50")), 1000)
    assert (work.logits, work.scored) == (3 * 50 * 1000, 1.0)
    assert work_of(parse(composed("model=bert", "objective=masked", "objective.rate=0.2")), 1000).scored == 0.2


def test_the_reference_is_the_plain_way() -> None:
    assert parse(composed("runtime=reference")).runtime.logits == "whole"
    assert parse(composed()).runtime.logits == "auto"


def test_a_model_that_drops_is_not_compiled_since_its_masks_would_share_one_stream() -> None:
    assert work_of(parse(composed()), 100).compiles
    assert not work_of(parse(composed("model.dropout=0.1")), 100).compiles
    assert not work_of(parse(composed("model.mixer.dropout=0.1")), 100).compiles


def test_bfloat16_is_chosen_only_where_it_is_clearly_faster(tmp_path: Path, speeds: dict[str, float]) -> None:
    speeds["bfloat16"] = 60.0
    assert chosen(tmp_path / "a", AUTO, SHORT)[0] == "float32"
    speeds["bfloat16"] = 160.0
    assert chosen(tmp_path / "b", AUTO, SHORT)[0] == "bfloat16"


def test_a_machine_is_measured_once_and_a_damaged_note_is_measured_again(
    tmp_path: Path, speeds: dict[str, float]
) -> None:
    chosen(tmp_path), chosen(tmp_path)
    assert speeds["looks"] == 1
    speeds["bfloat16"] = 1.0  # noise does not change the choice of later runs
    assert chosen(tmp_path)[0] == "bfloat16"
    (tmp_path / "machine.json").write_text("{")
    assert chosen(tmp_path)[0] == "float32"
    assert speeds["looks"] == 2
    chosen(tmp_path, replace(AUTO, threads=2))
    assert speeds["looks"] == 2


def test_jobs_of_one_study_do_as_the_first(tmp_path: Path, speeds: dict[str, float]) -> None:
    first = chosen(tmp_path, AUTO, LONG, tmp_path)
    assert chosen(tmp_path, AUTO, SHORT, tmp_path) == first != chosen(tmp_path, AUTO, SHORT)
    assert chosen(tmp_path, replace(AUTO, compile=False), LONG, tmp_path)[2] is False


def test_a_study_that_was_begun_before_logits_were_a_choice_goes_on_with_all_of_them(tmp_path: Path) -> None:
    asked = replace(AUTO, dtype="float32", logits="auto", threads=1)
    many = Work(128, flops=0.0, logits=2**30)
    before = {"dtype": "float32", "attention": "products", "compile": True}
    file = tmp_path / f"runtime-{resolve(asked, str(tmp_path)).device}-1-float32-auto-auto.json"
    file.write_text(json.dumps(before))
    found = resolve(asked, str(tmp_path), many, tmp_path).as_dict()
    assert {key: found[key] for key in (*before, "logits")} == {**before, "logits": "whole"}
    assert resolve(replace(asked, logits="blocks"), str(tmp_path), many, tmp_path).logits == "blocks"


def test_what_is_asked_for_is_done_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = replace(AUTO, dtype="bfloat16", attention="plain", compile=False)
    assert chosen(tmp_path, asked, LONG) == ("bfloat16", "plain", False)
    assert not (tmp_path / "machine.json").exists()
    monkeypatch.setattr(runtime, "can_compile", lambda device: False)
    assert resolve(replace(asked, compile="auto"), str(tmp_path), LONG).compile is False
    with pytest.raises(UserError, match="needs a C\\+\\+ compiler"):
        resolve(replace(asked, compile=True), str(tmp_path))


@pytest.fixture
def without_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor that knows float32 alone."""
    for dtype in ("bf16", "fp16"):
        monkeypatch.setattr(torch.ops.mkldnn, f"_is_mkldnn_{dtype}_supported", lambda: False)


@pytest.mark.usefixtures("without_units")
def test_a_dtype_that_is_emulated_is_told_and_used_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for dtype in ("bfloat16", "float16"):
        found = resolve(replace(AUTO, dtype=dtype), str(tmp_path), SHORT)
        assert (found.dtype, found.advice()) == (dtype, f"{dtype} is emulated here, {EMULATED}")
        monkeypatch.setattr(torch.ops.mkldnn, f"_is_mkldnn_{'bf' if 'b' in dtype else 'fp'}16_supported", lambda: True)
        assert not found.advice()
    assert not resolve(AUTO, str(tmp_path), SHORT).advice()


EMULATED = (
    "as torch has no fast products in it for this processor: runtime.dtype=float32 can be more than ten times as fast"
)


@pytest.mark.usefixtures("without_units")
def test_the_benchmark_leaves_out_what_is_emulated_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    benchmark = runpy.run_path(str(ROOT / "benchmarks" / "training.py"))
    cpu = torch.device("cpu")
    assert benchmark["here"](["bfloat16 compiled"], cpu) == ["bfloat16 compiled"]
    assert not capsys.readouterr().out
    assert benchmark["here"](None, cpu) == ["float32", "float32 compiled"]
    assert "left out: bfloat16 compiled, whose dtype is emulated here" in capsys.readouterr().out
    assert [*benchmark["products"](16, 8, cpu, seconds=0.001)] == ["float32"]
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    assert benchmark["here"](None, cpu) == ["float32", "float32 compiled", "bfloat16 compiled"]
    assert not capsys.readouterr().out


def test_the_real_measurement_gives_two_speeds() -> None:
    assert all(speed > 0 for speed in capability.product_speeds(width=16, repeats=2).values())


def losses(
    dtype: str, attention: str, backend: str | None = None, logits: str = "whole", steps: int = 20
) -> list[float]:
    """The curve of a small model that learns to count, by that machinery."""
    node = composed("model=modern")["model"] | {"d_model": 32, "n_layers": 2, "n_heads": 4}
    model = build_model(parse_model(node), 16, seed=0)
    machinery = Machinery("cpu", dtype, attention, False, 1, torch.__version__)
    place(model, machinery)
    forward = forward_of(model, replace(machinery, logits=logits))
    if backend:
        model.compile(backend=backend)
        forward = Whole if logits == "whole" else partial(Blocks, read=torch.compile(model.read, backend=backend))
    tokens = (torch.arange(25)[None] * torch.arange(1, 9)[:, None]) % 13
    task = Task({"tokens": tokens[:, :-1]}, tokens[:, 1:], torch.ones(8, 24))
    made = fit(
        model,
        optimizers.build(Option("adamw", {"lr": 1e-3}), model),
        schedules.build(Option("constant", {})),
        lambda step: [task],
        steps=steps,
        seed=0,
        device=torch.device("cpu"),
        autocast=machinery.autocast,
        forward=forward,
    )
    return [step.loss or 0.0 for step in made]


@pytest.mark.parametrize(
    ("dtype", "attention", "bound"),
    [
        ("float32", "fused", 1e-4),
        ("float32", "products", 1e-4),
        ("bfloat16", "products", 0.02),
        ("bfloat16", "fused", 0.02),
    ],
)
def test_every_machinery_trains_along_the_reference_curve(dtype: str, attention: str, bound: float) -> None:
    reference = losses("float32", "plain")
    assert reference[-1] < reference[0] - 0.3
    assert losses(dtype, attention) == pytest.approx(reference, abs=bound)
    assert losses(dtype, attention, logits="blocks") == pytest.approx(reference, abs=bound)


@pytest.mark.parametrize("logits", ["whole", "blocks"])
def test_a_compiled_model_trains_along_it_too(logits: str) -> None:
    """In a process of its own: checked signatures and compiled code do not mix."""
    asked = f"losses('float32', 'products', 'aot_eager', '{logits}')"
    code = f"from tests.training.test_runtime import losses; print(*{asked})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    assert [float(word) for word in done.stdout.split()] == pytest.approx(losses("float32", "plain"), abs=1e-4)
