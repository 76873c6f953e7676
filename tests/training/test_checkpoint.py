import json
import os
import pickle
import resource
import shutil

import pytest
import safetensors.torch
import torch
from torch import nn

from tests.training.tiny_training import Tiny, fill
from zoo.errors import UserError
from zoo.training.checkpoint import latest_checkpoint, open_checkpoint, save_checkpoint
from zoo.training.divergence import Diverged, refuse_broken
from zoo.training.manifest import seal
from zoo.training.weights import load_weights, weights_of


def save(folder, step, model, **values):
    values = {"architecture": {"name": "tiny"}, "tokenizer": "{}", "train_state": {"step": step}, **values}
    return save_checkpoint(folder, step, model, **values)


def same_weights(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def fresh(**values):
    model = Tiny(**values)
    fill(model, seed=9)
    if values.get("tied"):
        model.head.weight = model.embedding.weight
    return model


def test_a_checkpoint_brings_everything_back(tmp_path):
    model = Tiny()
    state = {"step": 7, "tokens": 100, "optimizer": {"up.weight": {"exp_avg": torch.randn(3), "step": torch.ones(())}}}
    save(tmp_path, 7, model, train_state=state, tokenizer='{"é": 1}', architecture={"d_model": 8, "pattern": ["a"]})
    found = open_checkpoint(tmp_path / "step_7")
    other = fresh()
    found.load_model(other)
    assert same_weights(model, other)
    assert (found.step, found.architecture, found.tokenizer) == (7, {"d_model": 8, "pattern": ["a"]}, '{"é": 1}')
    loaded = found.train_state()
    assert (loaded["step"], loaded["tokens"]) == (7, 100)
    assert torch.equal(loaded["optimizer"]["up.weight"]["exp_avg"], state["optimizer"]["up.weight"]["exp_avg"])


def test_tied_tensors_are_stored_once_and_shared_after_loading(tmp_path):
    model = Tiny(tied=True)
    path = save(tmp_path, 1, model)
    names = safetensors.torch.load_file(path / "model.safetensors").keys()
    about = json.loads((path / "model.json").read_text())
    assert "head.weight" not in names
    assert about["ties"] == {"head.weight": "embedding.weight"}
    assert about["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    other = fresh(tied=True)
    open_checkpoint(path).load_model(other)
    assert other.head.weight is other.embedding.weight
    assert same_weights(model, other)


def test_a_tied_file_fills_an_untied_model_and_either_name_fills_a_tied_one():
    model = Tiny(tied=True)
    tensors, ties = weights_of(model)
    untied = fresh()
    load_weights(untied, tensors, ties, "file")
    assert torch.equal(untied.head.weight, model.head.weight)
    only_head = {**tensors, "head.weight": tensors["embedding.weight"]}
    del only_head["embedding.weight"]
    both = {**tensors, "head.weight": tensors["embedding.weight"].clone()}
    for found in (only_head, both):
        other = fresh(tied=True)
        load_weights(other, found, {}, "file")
        assert same_weights(model, other)
    with pytest.raises(UserError, match=r"different tensors for embedding\.weight and head\.weight"):
        load_weights(fresh(tied=True), {**both, "head.weight": both["head.weight"] + 1}, {}, "file")


def test_loading_is_strict_names_everything_and_changes_nothing():
    model = fresh()
    tensors, _ = weights_of(Tiny())
    tensors["upp.weight"] = tensors.pop("up.weight")
    del tensors["norm.bias"]
    tensors["down.weight"] = tensors["down.weight"].T
    with pytest.raises(UserError) as caught:
        load_weights(model, tensors, {}, "old.safetensors")
    text = str(caught.value)
    assert "old.safetensors" in text
    assert "missing: norm.bias, up.weight" in text
    assert "unknown: upp.weight" in text
    assert "down.weight [16, 8] for [8, 16]" in text
    assert same_weights(model, fresh())


def test_saved_buffers_come_back_too(tmp_path):
    model, other = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    model(torch.randn(5, 3))
    save(tmp_path, 1, model, average={name: one.detach() + 1 for name, one in model.named_parameters()})
    found = open_checkpoint(tmp_path / "step_1")
    found.load_model(other, averaged=True)
    assert torch.equal(model.running_mean, other.running_mean)
    assert torch.equal(model.weight + 1, other.weight)


def test_a_compiled_model_saves_and_loads_under_the_bare_names(tmp_path):
    model = Tiny()
    path = save(tmp_path, 1, torch.compile(model, backend="eager"))
    assert safetensors.torch.load_file(path / "model.safetensors").keys() == model.state_dict().keys()
    plain, compiled = fresh(), torch.compile(fresh(), backend="eager")
    for other in (plain, compiled):
        open_checkpoint(path).load_model(other)
        assert same_weights(model, other)


def test_the_average_is_saved_beside_the_weights(tmp_path):
    model = Tiny()
    average = {name: parameter.detach() + 1 for name, parameter in model.named_parameters()}
    save(tmp_path, 1, model, average=average)
    save(tmp_path, 2, model)
    with_average, without = open_checkpoint(tmp_path / "step_1"), open_checkpoint(tmp_path / "step_2")
    assert torch.equal(with_average.average()["up.weight"], average["up.weight"])
    assert without.average() == {}
    for checkpoint, averaged, offset in ((with_average, True, 1), (with_average, False, 0), (without, True, 0)):
        other = fresh()
        checkpoint.load_model(other, averaged=averaged)
        assert torch.equal(other.up.weight, model.up.weight + offset)


def test_only_the_newest_are_kept_and_order_is_by_number(tmp_path):
    for step in (2, 9, 10, 100):
        save(tmp_path, step, Tiny(), keep=2)
    assert sorted(os.listdir(tmp_path)) == ["step_10", "step_100"]
    assert latest_checkpoint(tmp_path).step == 100


def test_after_a_fallback_the_new_one_stays_and_the_abandoned_ones_go(tmp_path):
    for step in (10, 20, 30):
        save(tmp_path, step, Tiny(), keep=3)
    for step in (20, 30):
        (tmp_path / f"step_{step}" / "model.safetensors").write_bytes(b"")
    assert latest_checkpoint(tmp_path).step == 10
    save(tmp_path, 15, Tiny(), keep=2)
    assert sorted(os.listdir(tmp_path)) == ["step_10", "step_15"]
    save(tmp_path, 5, Tiny(), keep=1)
    assert os.listdir(tmp_path) == ["step_5"]


def test_only_a_run_that_goes_on_needs_the_train_state(tmp_path):
    path = save(tmp_path, 1, Tiny())
    (path / "train_state.pt").unlink()
    assert open_checkpoint(path).step == 1
    assert latest_checkpoint(tmp_path).step == 1
    with pytest.raises(UserError, match=r"train_state\.pt is missing"):
        open_checkpoint(path, to_resume=True)


def test_weights_that_are_not_finite_are_refused_by_name():
    model = Tiny()
    refuse_broken(model, {"up.weight": torch.ones(1)}, 3)
    with pytest.raises(Diverged, match=r"step 3: a weight is not finite, first in up\.weight"):
        refuse_broken(model, {"up.weight": torch.tensor([1.0, float("inf")])}, 3)
    with torch.no_grad():
        model.down.weight[0, 0] = float("nan")
    with pytest.raises(Diverged, match=r"first in down\.weight"):
        refuse_broken(torch.compile(model, backend="eager"), {}, 3)


def test_no_checkpoint_is_none(tmp_path):
    assert latest_checkpoint(tmp_path) is None
    assert latest_checkpoint(tmp_path / "missing") is None


@pytest.mark.parametrize("file", ["model.safetensors", "model.json", "tokenizer.json", "train_state.pt"])
@pytest.mark.parametrize("damage", ["flip", "cut", "delete"])
def test_a_damaged_newest_checkpoint_falls_back_and_says_so(tmp_path, caplog, file, damage):
    for step in (1, 2):
        save(tmp_path, step, Tiny())
    path = tmp_path / "step_2" / file
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[0] ^= 0xFF
    path.write_bytes(data if damage == "flip" else data[:-1])
    if damage == "delete":
        path.unlink()
    if (file, damage) == ("model.json", "cut"):
        path.write_bytes(data[: len(data) // 2])
    assert latest_checkpoint(tmp_path, to_resume=True).step == 1
    assert f"step_2/{file}" in caplog.text
    save(tmp_path, 2, Tiny())
    assert latest_checkpoint(tmp_path, to_resume=True).step == 2
    assert sorted(os.listdir(tmp_path)) == ["step_1", "step_2"]


def test_when_every_checkpoint_is_damaged_nothing_starts_over_silently(tmp_path):
    (save(tmp_path, 1, Tiny()) / "model.safetensors").write_bytes(b"")
    with pytest.raises(UserError, match="every checkpoint is damaged"):
        latest_checkpoint(tmp_path)


def test_another_format_is_refused_with_both_numbers(tmp_path):
    path = save(tmp_path, 1, Tiny()) / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    with pytest.raises(UserError, match="format 99, this version reads 2"):
        open_checkpoint(path.parent)


class Marker:
    """Unpickling this makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("plain_pickle", [True, False])
def test_loading_a_checkpoint_runs_no_code(tmp_path, plain_pickle):
    marker = tmp_path / "marker"
    bomb = {"optimizer": {"up.weight": Marker(marker)}}
    path = save(tmp_path, 1, Tiny(), train_state={})
    data = path / "train_state.pt"
    data.write_bytes(pickle.dumps(bomb, protocol=2)) if plain_pickle else torch.save(bomb, data)
    forge(path)
    with pytest.raises(UserError, match="more than plain dicts and tensors"):
        open_checkpoint(path).train_state()
    (path / "model.safetensors").write_bytes(data.read_bytes())
    forge(path)
    with pytest.raises(UserError, match=r"model\.safetensors is no safetensors file"):
        open_checkpoint(path).load_model(Tiny())
    assert not marker.exists()


def forge(path):
    """Make the digests fit: whoever can write a bad file can do that too."""
    import hashlib

    about = json.loads((path / "model.json").read_text())
    about["sha256"] = {name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in about["sha256"]}
    rewrite(path, about)


def rewrite(path, about):
    (path / "model.json").write_text(json.dumps({**about, "seal": seal(about)}))


def test_a_digest_cannot_point_outside_the_checkpoint(tmp_path):
    path = save(tmp_path, 1, Tiny())
    about = json.loads((path / "model.json").read_text())
    about["sha256"]["../../secret"] = "0"
    rewrite(path, about)
    with pytest.raises(UserError, match="step_1/secret"):
        open_checkpoint(path)


def test_a_full_disk_is_named_and_nothing_half_written_stays(tmp_path):
    save(tmp_path, 1, Tiny())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))  # writes beyond fail, as on a full disk
    try:
        with pytest.raises(UserError, match=f"cannot write {tmp_path}"):
            save(tmp_path, 2, Tiny())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == ["step_1"]
    assert latest_checkpoint(tmp_path).step == 1


def test_what_a_killed_process_left_is_swept_up(tmp_path):
    shutil.copytree(save(tmp_path, 1, Tiny()), tmp_path / ".step_2.tmp")
    (tmp_path / ".step_2.tmp" / "model.json").unlink()
    assert latest_checkpoint(tmp_path).step == 1
    save(tmp_path, 2, Tiny())
    assert sorted(os.listdir(tmp_path)) == ["step_1", "step_2"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"step": -1}, "step must be"),
        ({"step": 1.0}, "step must be"),
        ({"step": True}, "step must be"),
        ({"step": 2}, "it is of step 2"),
        ({"ties": {"a": 1}}, "ties must be"),
        ({"ties": []}, "ties must be"),
        ({"architecture": [1]}, "architecture must be"),
        ({"sha256": {}}, "no sha256 of model.safetensors"),
        ({"sha256": None}, "sha256 must be"),
        ({"format": "2"}, "format 2"),
    ],
)
def test_what_model_json_says_must_be_of_its_type_even_under_a_seal(tmp_path, values, words):
    path = save(tmp_path, 1, Tiny())
    rewrite(path, json.loads((path / "model.json").read_text()) | values)
    with pytest.raises(UserError, match=words):
        open_checkpoint(path)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "train_state.pt"])
def test_a_file_without_a_digest_is_refused(tmp_path, name):
    path = save(tmp_path, 1, Tiny())
    about = json.loads((path / "model.json").read_text())
    del about["sha256"][name]
    rewrite(path, about)
    with pytest.raises(UserError, match=f"no sha256 of {name}"):
        open_checkpoint(path)


def test_an_edited_model_json_is_refused(tmp_path):
    path = save(tmp_path, 1, Tiny()) / "model.json"
    path.write_text(path.read_text().replace("tiny", "tidy"))
    with pytest.raises(UserError, match="not say what was saved"):
        open_checkpoint(path.parent)
    path.write_text("[" * 100_000)
    with pytest.raises(UserError, match=r"model\.json is missing or damaged"):
        open_checkpoint(path.parent)


def test_a_plain_file_is_told_as_such_and_makes_room(tmp_path):
    (tmp_path / "step_4").write_text("")
    with pytest.raises(UserError, match="step_4 is a file"):
        open_checkpoint(tmp_path / "step_4")
    save(tmp_path, 4, Tiny())
    assert latest_checkpoint(tmp_path).step == 4


def test_a_tokenizer_that_is_no_text_is_refused(tmp_path):
    path = save(tmp_path, 1, Tiny())
    (path / "tokenizer.json").write_bytes(b"\xff")
    forge(path)
    with pytest.raises(UserError, match=r"tokenizer\.json is missing or damaged"):
        open_checkpoint(path).tokenizer  # noqa: B018


@pytest.mark.parametrize("data", [b"\x80\x02.", b"\x80\x02h\x05.", b"PK\x05\x06" + bytes(18), b"", b"\x80\x02K\x01."])
def test_a_damaged_train_state_is_a_sentence_whatever_torch_raises(tmp_path, data):
    path = save(tmp_path, 1, Tiny())
    (path / "train_state.pt").write_bytes(data)
    forge(path)
    with pytest.raises(UserError, match=r"train_state\.pt is refused"):
        open_checkpoint(path, to_resume=True).train_state()


@pytest.mark.parametrize("change", [torch.Tensor.int, torch.Tensor.bool, lambda one: one + 0j])
def test_weights_of_another_kind_are_refused(change):
    model = fresh()
    tensors, _ = weights_of(Tiny())
    with pytest.raises(UserError, match=r"of another kind: up\.weight \(torch"):
        load_weights(model, {**tensors, "up.weight": change(tensors["up.weight"])}, {}, "file")
    assert same_weights(model, fresh())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_weights_that_are_not_finite_are_not_loaded(value):
    tensors, _ = weights_of(Tiny())
    tensors["up.weight"] = torch.full((16, 8), value, dtype=torch.float64)
    with pytest.raises(UserError, match=r"not finite: up\.weight"):
        load_weights(fresh(), tensors, {}, "file")
