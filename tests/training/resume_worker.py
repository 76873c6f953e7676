"""A whole run, in a process that may be killed."""

import time
from pathlib import Path

import torch

from tests.training.tiny_training import CPU, VOCABULARY, Tiny, tasks
from zoo.training.checkpoint import latest_checkpoint, save_checkpoint
from zoo.training.evaluate import evaluate
from zoo.training.loop import fit
from zoo.training.optimizer.muon import Muon
from zoo.training.run import RunFolder
from zoo.training.schedule.cosine import Cosine

STEPS = 20
ONE_BYTE = torch.ones(VOCABULARY, dtype=torch.long)


def run(folder: Path, pause: float = 0.0) -> None:
    """Train to the end, from the newest checkpoint if there is one: dropout, accumulation of 2, average of weights."""
    torch.set_num_threads(1)
    model = Tiny(dropout=0.3, tied=True)
    optimizer = Muon(model, lr=0.01, ema=0.9)
    with RunFolder(folder) as run:
        start = tokens = 0
        checkpoint = latest_checkpoint(run.checkpoints)
        if checkpoint is not None:
            checkpoint.load_model(model)
            state = checkpoint.train_state()
            optimizer.load_state_dict(state["optimizer"])
            optimizer.average.load(checkpoint.average())
            start, tokens = state["step"], state["tokens"]
        run.start({"model": "tiny"}, {}, step=start)
        steps = fit(
            model, optimizer, Cosine(warmup=5), tasks, steps=STEPS, seed=3, device=CPU, start=start, tokens=tokens
        )
        for step in steps:
            run.log(step=step.step, split="train", loss=step.loss, tokens=step.tokens, grad_norm=step.grad_norm)
            if step.step % 5 == 0:
                with optimizer.averaged():
                    scores = evaluate(model, tasks(1000), ONE_BYTE, device=CPU)
                run.log(step=step.step, split="validation", loss=scores.loss)
            if step.step % 3 == 0 or step.step == STEPS:
                train_state = {"optimizer": optimizer.state_dict(), "step": step.step, "tokens": step.tokens}
                save_checkpoint(
                    run.checkpoints,
                    step.step,
                    model,
                    architecture={},
                    tokenizer="{}",
                    train_state=train_state,
                    average=optimizer.average.weights,
                )
            time.sleep(pause)
        run.finish("done", step=STEPS)
