import random
import signal
import time
from contextlib import chdir

import pytest
import torch

from tests.commands.started import FORKED, ROOT
from tests.training import resume_worker
from zoo.training.checkpoint import latest_checkpoint
from zoo.training.metrics import read_metrics
from zoo.training.run import read_status


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    folder = tmp_path_factory.mktemp("straight")
    resume_worker.run(folder)
    return folder


def plain(value):
    """Tensors as bytes, so that equal means bit-equal."""
    if isinstance(value, torch.Tensor):
        return value.dtype, value.shape, value.numpy().tobytes()
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def everything(folder):
    """Losses, and all that the last checkpoint holds."""
    last = latest_checkpoint(folder / "checkpoints")
    weights = torch.nn.Module.state_dict(loaded(last))
    return read_metrics(folder), plain(weights), plain(last.average()), plain(last.train_state())


def loaded(checkpoint):
    model = resume_worker.Tiny(tied=True)
    checkpoint.load_model(model)
    return model


def start(folder):
    process = FORKED.Process(target=resume_worker.run, args=(folder, 0.02))
    with chdir(ROOT):  # where the first one finds what is to be imported
        process.start()
    return process


def kill_after(folder, lines, pause):
    process = start(folder)
    try:
        while len(read_metrics(folder)) < lines and process.is_alive():
            time.sleep(0.002)
        time.sleep(pause)
    finally:
        process.kill()
        process.join()
    assert process.exitcode in (-signal.SIGKILL, 0)


@pytest.mark.parametrize("trial", range(2))
def test_a_run_killed_at_any_moment_and_resumed_is_the_straight_run_bit_for_bit(tmp_path, straight, trial):
    moments = random.Random(trial)
    for low, high in ((1, 9), (10, 20)):
        kill_after(tmp_path, moments.randint(low, high), moments.uniform(0, 0.04))
        assert read_status(tmp_path)["state"] == "running"
    process = start(tmp_path)
    process.join(120)
    assert process.exitcode == 0
    assert read_status(tmp_path)["state"] == "done"
    assert everything(tmp_path) == everything(straight)


def test_dropout_is_on_in_that_comparison(straight):
    losses = [line["loss"] for line in read_metrics(straight) if line["split"] == "train"]
    steps = resume_worker.fit(
        (model := resume_worker.Tiny(tied=True)),
        resume_worker.Muon(model, lr=0.01),
        resume_worker.Cosine(warmup=5),
        resume_worker.tasks,
        steps=20,
        seed=3,
        device=resume_worker.CPU,
    )
    assert losses != [step.loss for step in steps]
