"""Which step a run came to, by its folder."""

from pathlib import Path
from typing import Any

from zoo.errors import UserError
from zoo.training.checkpoint import newest_step
from zoo.training.run import read_status


def is_last(checkpoint: Path, step: int) -> bool | None:
    """Whether no later weights of its run are known than those of this checkpoint; None where it lies in no run
    folder."""
    folder = checkpoint.resolve().parent.parent
    status = _status(folder)
    if status is None:
        return None
    steps = (status.get("step") if status["state"] == "done" else None, newest_step(folder / "checkpoints"))
    return step >= max(one for one in (*steps, step) if type(one) is int)


def lost_checkpoints(folder: Path) -> bool:
    """Whether it is the folder of a finished run without any checkpoint: a run that is done saved one."""
    status = _status(folder)
    return status is not None and status["state"] == "done" and newest_step(folder / "checkpoints") is None


def _status(folder: Path) -> dict[str, Any] | None:
    """A damaged one says nothing: the weights may be whole."""
    try:
        return read_status(folder)
    except UserError:
        return None
