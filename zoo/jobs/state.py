"""How far a run has come, saved in its folder and brought back from there."""

import math
from dataclasses import dataclass
from typing import Any

from zoo.errors import UserError
from zoo.jobs.parts import Parts
from zoo.probe import check_probe, probe
from zoo.training.checkpoint import latest_checkpoint, save_checkpoint
from zoo.training.divergence import refuse_broken
from zoo.training.files import ANEW
from zoo.training.run import RunFolder, read_record
from zoo.training.runtime import Machinery


@dataclass
class State:
    """Steps made, positions seen, floating-point operations and seconds spent training; lines of metrics.jsonl."""

    step: int = 0
    tokens: int = 0
    flops: int = 0
    seconds: float = 0.0
    lines: int = 0


def save(folder: RunFolder, parts: Parts, state: State, *, architecture: dict[str, Any], keep: int) -> None:
    """Write a checkpoint that the run can go on from, and that the model can be rebuilt from. Raises Diverged when a
    weight is not finite, and UserError when the disk refuses."""
    average = parts.optimizer.average
    averages = average.weights if average else {}
    refuse_broken(parts.model, averages, state.step)
    folder.flush()
    state.lines = folder.lines(state.step)
    spent = {"tokens": state.tokens, "flops": state.flops, "seconds": state.seconds, "lines": state.lines}
    train_state = {"optimizer": parts.optimizer.state_dict(), **spent}
    if parts.scale is not None:
        train_state["scale"] = parts.scale.state_dict()
    save_checkpoint(
        folder.checkpoints,
        state.step,
        parts.model,
        architecture={**architecture, "probe": probe(parts.model)},
        tokenizer=parts.feed.corpus.tokenizer.to_json(),
        train_state=train_state,
        average=averages,
        keep=keep,
    )


def restore(folder: RunFolder, parts: Parts, machinery: Machinery, steps: int) -> State:
    """Go back to the newest whole checkpoint, or to nothing when there is none. Raises UserError when it was computed
    otherwise, does not fit, or lies beyond the `steps` of the run."""
    checkpoint = latest_checkpoint(folder.checkpoints, to_resume=True)
    if checkpoint is None:
        return State()
    if checkpoint.step > steps:
        raise UserError(f"{checkpoint.path} lies beyond budget.steps={steps}; {ANEW}")
    different = machinery.differs(read_record(folder.path)["machinery"])
    if different:
        raise UserError(
            f"{folder.path} was computed with {different} here; set runtime.* as it was, or remove the folder to begin"
            " anew"
        )
    saved = checkpoint.train_state()
    checkpoint.load_model(parts.model)
    check_probe(parts.model, checkpoint.architecture.get("probe"), str(checkpoint.path))
    try:
        parts.optimizer.load_state_dict(saved["optimizer"])
        if parts.scale is not None:
            parts.scale.load_state_dict(saved["scale"])
        tokens, flops, lines = _count(saved["tokens"]), _count(saved["flops"]), _count(saved.get("lines", 0))
        state = State(checkpoint.step, tokens, flops, _duration(saved["seconds"]), lines)
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, IndexError) as error:
        raise UserError(f"{checkpoint.path} does not hold the state of this run's optimizer ({error!r})") from error
    if parts.optimizer.average:
        parts.optimizer.average.load(checkpoint.average())
    return state


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("tokens, flops and lines must be whole numbers of at least 0")
    return value


def _duration(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:  # type: ignore[arg-type, operator]
        raise ValueError("seconds must be a finite number of at least 0")
    return float(value)  # type: ignore[arg-type]
