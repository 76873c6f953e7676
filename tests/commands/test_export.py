"""A run leaves as a published folder, and is scored and continued from there."""

import shutil
from pathlib import Path

import pytest
import torch

import zoo
from tests.commands.conftest import TINY, Command
from tests.published.models import in_transformers
from zoo.published.writing import OURS, TOKENIZER

QUICK = ("latency.batches=[1]", "latency.new_tokens=2", "latency.repetitions=1", "latency.warm_up=0")


@pytest.fixture
def a_run(command: Command, text: Path, tmp_path: Path) -> Path:
    assert command("train", "model=llama", "data=text", f"data.path='{text}'", *TINY, "optimizer.ema=0.9").code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    return folder


@torch.no_grad()
def test_an_exported_run_scores_and_says_what_the_run_does(command: Command, a_run: Path, tmp_path: Path) -> None:
    done = command("zoo.__main__", "export", f"run={a_run}", "to=out", "shard_bytes=20000")
    assert done.code == 0, done.err
    assert "parameters in model-00001-of-" in done.out
    model = zoo.load(a_run).model
    tokens = torch.randint(model.vocabulary, (2, 9), generator=torch.Generator().manual_seed(0))
    theirs = in_transformers(tmp_path / "out", "causal")(tokens).logits
    torch.testing.assert_close(theirs, model(tokens).logits, rtol=0, atol=1e-5)
    said = []
    for folder in (a_run, tmp_path / "out"):
        for more in ((), ("generate.prompt=line", "generate.max_new_tokens=5", "generate.temperature=0")):
            done = command("evaluate", f"run='{folder}'", *more, f"json={tmp_path / folder.name}.json")
            assert done.code == 0, done.err
            said.append((tmp_path / f"{folder.name}.json").read_text())
    of_run, of_export = '"last": true', '"last": null'  # an export does not know whether its run went on
    assert all(of_run in one for one in said[:2])
    assert [one.replace(of_run, of_export) for one in said[:2]] == said[2:]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("to=out",), "export needs run=, as in python -m zoo export"),
        (("run={run}",), "export needs to=, as in python -m zoo export"),
        (("run={run}", "to=out", "shard_byte=3"), "export takes no 'shard_byte=3' (did you mean shard_bytes?)"),
        (("run={run}", "to=out", "shard_bytes=0"), "shard_bytes=0 must be a whole number of at least 1"),
        (("run={run}", "to=out", "shard_bytes=-1"), "shard_bytes=-1 must be a whole number of at least 1"),
        (("run={run}", "to=out", "family=gpt2"), "family 'gpt2' has no place for model.position.name=rope"),
        (("run={run}", "to={run}"), "exists and is not empty"),
    ],
)
def test_a_wrong_export_is_one_sentence(
    command: Command, words: tuple[str, ...], said: str, made: Path, tmp_path: Path
) -> None:
    done = command("zoo.__main__", "export", *(word.format(run=made) for word in words))
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_of_another_library_is_measured_and_refused_where_texts_are_asked_for(
    command: Command, made: Path, text: Path, tmp_path: Path
) -> None:
    shutil.copytree(made, tmp_path / "foreign")
    for file in (OURS, TOKENIZER):
        (tmp_path / "foreign" / file).unlink()
    done = command("evaluate", "run=foreign", "latency.prompts=[4]", *QUICK)
    assert done.code == 0, done.err
    assert (tmp_path / "foreign" / "latency.html").exists()
    for words, said in (
        ((), "data must be a data"),
        (("data=text", f"data.path='{text}'"), "came without a tokenizer of the zoo"),
        (("generate.prompt=hello",), "came without a tokenizer of the zoo"),
    ):
        done = command("evaluate", "run=foreign", *words)
        assert done.code == 2
        assert said in done.err


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published folder stands for a run: made without training one."""
    from tests.published.models import run_of

    folder = tmp_path_factory.mktemp("made") / "a_model"
    zoo.export(run_of("model=llama"), folder)
    return folder
