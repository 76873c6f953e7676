"""A trained model, and what its files say of its making."""

from dataclasses import dataclass, replace
from typing import Any

from zoo.bare import bare
from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError
from zoo.mismatch import FITS, Mismatch
from zoo.model import Model


@dataclass(frozen=True)
class Run:
    """What a run folder, a checkpoint or a folder in a published layout holds."""

    model: Model
    tokenizer: Tokenizer
    config: dict[str, Any]
    """What the checkpoint says of its making: the resolved `model`, `objective` and `data`, `vocabulary`, `context`,
    `probe`."""
    step: int
    mismatch: Mismatch = FITS
    """What it was loaded in spite of, with `strict=False`."""
    last: bool | None = None
    """Whether the run has no later weights than these; None where that is not known."""

    def weights(self) -> dict[str, Any]:
        """Which weights these are, for a JSON file."""
        return {"step": self.step, "last": self.last, **self.mismatch.as_dict()}


def bare_run(name: str, given: Any) -> Run:
    """The run, with the model itself where `torch.compile` wrapped it. Raises UserError for anything else, such as the
    model or the folder of a run."""
    if not isinstance(given, Run):
        raise UserError(f"{name} must be a run, as zoo.load(path) is one; got {type(given).__name__}")
    return replace(given, model=bare(given.model))
