"""A run whose tensors do not fit is loaded only when that is asked for, and all that comes of it says so."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.torch
import torch
from torch import Tensor

import zoo
from tests.commands.conftest import TINY, Command
from tests.published.models import logits, run_of, theirs
from tests.study.simulated import latency, noisy, write, write_study
from zoo.assembly import build_model
from zoo.config import parse_model
from zoo.errors import UserError
from zoo.study.report.page import built
from zoo.training.manifest import seal

Change = Callable[[dict[str, Tensor]], dict[str, Tensor]]
HEAD = "head.out.weight"
MARK = "loaded with strict=false"


@pytest.fixture
def folder(trained: Callable[..., Path]) -> Path:
    """A trained run with an untied head."""
    return trained("model.embedding.tie=none")


def rewrite(folder: Path, change: Change, *, sealed: bool = True) -> None:
    """Change the tensors of a run, as another version with other tensors would have saved them; or, not sealed, as
    another tool would leave them."""
    (checkpoint,) = (folder / "checkpoints").iterdir()
    file, about_file = checkpoint / "model.safetensors", checkpoint / "model.json"
    safetensors.torch.save_file(change(safetensors.torch.load_file(file)), file)
    if sealed:
        about = json.loads(about_file.read_text())
        about["sha256"]["model.safetensors"] = hashlib.sha256(file.read_bytes()).hexdigest()
        about_file.write_text(json.dumps({**about, "seal": seal(about)}))


def without(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: one for name, one in tensors.items() if name != HEAD}


def renamed(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {**without(tensors), "out.weight": tensors[HEAD]}


def added(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {**tensors, "extra.weight": torch.zeros(3)}


def transposed(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    square = next(name for name, one in tensors.items() if one.ndim == 2 and one.shape[0] == one.shape[1])
    return {**tensors, square: tensors[square].T.contiguous()}


def reshaped(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {**tensors, HEAD: tensors[HEAD][1:].contiguous()}


CASES = [
    (without, (HEAD,), ()),
    (renamed, (HEAD,), ("out.weight",)),
    (added, (), ("extra.weight",)),
]


@pytest.mark.parametrize(("change", "missing", "left_over"), CASES)
@pytest.mark.parametrize("sealed", [True, False])
def test_a_run_is_scored_in_spite_of_its_tensors_only_when_asked_and_marked_then(
    command: Command, folder: Path, change: Change, missing: tuple[str], left_over: tuple[str], sealed: bool
) -> None:
    before = zoo.load(folder).model
    rewrite(folder, change, sealed=sealed)
    refused = command("evaluate", f"run='{folder}'", "json=scores.json")
    assert refused.code == 2
    names = [*(f"missing: {one}" for one in missing), *(f"unknown: {one}" for one in left_over)]
    assert all(one in refused.err for one in (names if sealed else ["is not the file that was saved"]))
    done = command("evaluate", f"run='{folder}'", "json=scores.json", "strict=false", "splits=[test]")
    assert done.code == 0, done.err
    for name in missing:
        assert f"missing: {name} keeps its initial value" in done.out + done.err
    for name in left_over:
        assert f"left over: {name} is not used" in done.out + done.err
    assert ("cannot be compared, since tensors are missing" in done.out + done.err) == bool(missing)
    assert MARK in done.out
    scores = json.loads(Path("scores.json").read_text())
    mark = {"missing": list(missing), "left_over": list(left_over), "changed": not sealed, "unchecked": bool(missing)}
    assert scores.keys() == {"test", "step", "last", "mismatch"}
    assert scores["mismatch"] == mark
    run = zoo.load(folder, strict=False)
    initial = build_model(parse_model(run.config["model"]), run.config["vocabulary"], seed=0)
    for name, value in run.model.state_dict().items():
        wanted = initial if name in missing else before
        assert torch.equal(value, wanted.state_dict()[name])
    with pytest.raises(UserError, match="loaded with strict=False is not exported"):
        zoo.export(run, folder / "out")


@pytest.mark.parametrize("sealed", [True, False])
def test_a_transposed_square_tensor_and_another_shape_are_refused_all_the_same(
    command: Command, folder: Path, sealed: bool
) -> None:
    rewrite(folder, lambda found: added(transposed(found)), sealed=sealed)
    done = command("evaluate", f"run='{folder}'", "strict=false")
    assert done.code == 2
    assert "computes other logits than when it was saved" in done.err
    rewrite(folder, lambda found: reshaped(transposed(found)), sealed=sealed)
    done = command("evaluate", f"run='{folder}'", "strict=false")
    assert done.code == 2
    assert f"of another shape: {HEAD}" in done.err


def test_a_run_that_fits_has_no_mark(command: Command, folder: Path) -> None:
    done = command("evaluate", f"run='{folder}'", "strict=false", "json=scores.json", "splits=[test]")
    assert done.code == 0, done.err
    assert MARK not in done.out
    assert json.loads(Path("scores.json").read_text()).keys() == {"test", "step", "last"}
    assert command("evaluate", f"run='{folder}'", "strict=perhaps").code == 2


def test_an_average_that_has_what_is_missing_fills_it(command: Command, text: Path, tmp_path: Path) -> None:
    done = command("train", "data=text", f"data.path='{text}'", *TINY, "model.embedding.tie=none", "optimizer.ema=0.5")
    assert done.code == 0, done.err
    (folder,) = (tmp_path / "runs").iterdir()
    before = zoo.load(folder)
    rewrite(folder, renamed)
    after = zoo.load(folder, strict=False)
    assert (after.mismatch.missing, after.mismatch.left_over, after.mismatch.unchecked) == ((), ("out.weight",), True)
    assert all(torch.equal(a, b) for a, b in zip(before.model.parameters(), after.model.parameters(), strict=True))


ELSEWHERE = {
    "latency.json": ("latency.prompts=[4]", "latency.batches=[1]", "latency.new_tokens=2", "latency.repetitions=1"),
    "attention.json": ("attention.text=a",),
    "said.json": ("generate.prompt=a", "generate.max_new_tokens=2"),
}


def test_whatever_a_marked_run_is_asked_for_carries_the_mark(command: Command, folder: Path) -> None:
    rewrite(folder, without)
    for name, words in ELSEWHERE.items():
        done = command("evaluate", f"run='{folder}'", "strict=false", f"json={name}", *words, "runtime.threads=1")
        assert done.code == 0, done.err
        assert MARK in done.out + done.err
        found = json.loads(Path(name).read_text())
        assert (found[0] if isinstance(found, list) else found)["mismatch"]["missing"] == [HEAD]
    for page in ("latency.html", "attention.html"):
        assert MARK in (folder / page).read_text()


def test_a_study_draws_no_measurement_of_a_marked_run_and_says_so(tmp_path: Path) -> None:
    names = ("base", "other")
    bare = {name: {"rich": False} for name in names}
    folder = write_study(tmp_path, noisy(dict.fromkeys(names, 0.0)), names, range(1), run=bare)
    marked = {"mismatch": {"missing": ["a", "b"], "left_over": [], "changed": False, "unchecked": True}}
    write(tmp_path / "run-0" / "latency.json", latency(0.002))
    write(tmp_path / "run-1" / "latency.json", latency(0.002) | marked)
    found = next(one for one in built(folder).page.sections if one.key == "generation")
    said = [one for one in found.blocks if isinstance(one, str)]
    assert any("Not drawn of `other`, seed 0" in one and "2 tensors missing" in one for one in said)
    write(tmp_path / "run-0" / "latency.json", latency(0.002) | marked)
    found = next(one for one in built(folder).page.sections if one.key == "generation")
    assert "Not drawn of `base`, seed 0" in found.missing


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_a_folder_of_another_library_is_loaded_in_spite_of_its_tensors(name: str, tmp_path: Path) -> None:
    """What a missing tensor is a part of starts anew; all else is as it was."""
    theirs(name).save_pretrained(tmp_path)
    whole = zoo.load(tmp_path).model
    file = tmp_path / "model.safetensors"
    tensors = safetensors.torch.load_file(file)
    lost = {"bert": "bert.embeddings.token_type_embeddings.weight", "gpt2": "transformer.h.0.attn.c_attn.weight"}.get(
        name, "model.layers.0.mlp.up_proj.weight"
    )
    kept = {key: one for key, one in tensors.items() if key != lost}
    safetensors.torch.save_file(kept | {"renamed": tensors[lost]}, file, metadata={"format": "pt"})
    with pytest.raises(UserError, match=f"missing: {lost}; unknown: renamed"):
        zoo.load(tmp_path)
    run = zoo.load(tmp_path, strict=False)
    assert (run.mismatch.missing, run.mismatch.left_over) == ((lost,), ("renamed",))
    initial = build_model(parse_model(run.config["model"]), run.config["vocabulary"], seed=0).state_dict()
    new = [key for key, one in run.model.state_dict().items() if not torch.equal(one, whole.state_dict()[key])]
    assert new
    assert all(torch.equal(run.model.state_dict()[key], initial[key]) for key in new)


def test_an_exported_folder_is_held_against_its_logits_unless_tensors_are_missing(tmp_path: Path) -> None:
    run = run_of("model=llama")
    zoo.export(run, tmp_path / "out")
    file = tmp_path / "out" / "model.safetensors"
    tensors = safetensors.torch.load_file(file)
    safetensors.torch.save_file(added(tensors), file)
    back = zoo.load(tmp_path / "out", strict=False)
    assert back.mismatch.left_over == ("extra.weight",)
    assert torch.equal(logits(back.model), logits(run.model))
    safetensors.torch.save_file(added(transposed(tensors)), file)
    with pytest.raises(UserError, match="computes other logits than when it was saved"):
        zoo.load(tmp_path / "out", strict=False)
    safetensors.torch.save_file({k: one for k, one in tensors.items() if not k.endswith("q_proj.weight")}, file)
    assert zoo.load(tmp_path / "out", strict=False).mismatch.unchecked
