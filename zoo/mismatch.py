"""What a model is told to be loaded in spite of, and that it is not the last of its run: it goes with all that is
computed from such a model."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from zoo.number import counted


@dataclass(frozen=True)
class Mismatch:
    """How the tensors of a file differ from those of the model that they were loaded into, by name."""

    missing: tuple[str, ...] = ()
    """Of the model and not in the file: they keep their initial values, those of seed 0."""
    left_over: tuple[str, ...] = ()
    """Of the file and not in the model: they are not used."""
    changed: bool = False
    """Whether the file is not the one that was saved."""
    unchecked: bool = False
    """Whether the logits that were saved with the weights could not be compared, since a tensor is missing."""

    def __bool__(self) -> bool:
        return bool(self.missing or self.left_over or self.changed or self.unchecked)

    def lines(self) -> Iterator[str]:
        """The whole list, one to a line."""
        if self.changed:
            yield "changed: the file of weights is not the one that was saved"
        yield from (f"missing: {name} keeps its initial value" for name in self.missing)
        yield from (f"left over: {name} is not used" for name in self.left_over)
        if self.unchecked:
            yield "the logits that were saved with the weights cannot be compared, since tensors are missing"

    def as_dict(self) -> dict[str, Any]:
        """For a JSON file: itself under its name, or nothing where all fitted."""
        return {"mismatch": asdict(self)} if self else {}


FITS = Mismatch()


def told(found: Mapping[str, Any]) -> list[str]:
    """What a JSON file says of the weights that it was computed from, in a sentence for each thing that makes them
    others than those the run ended with; nothing where they are those."""
    said = []
    if found.get("last") is False:
        said.append(f"Not the last weights of the run: these are of step {found.get('step')}.")
    held = found.get("mismatch")
    if isinstance(held, Mapping):
        missing, left_over = (len(held.get(key) or ()) for key in ("missing", "left_over"))
        changed = " from a changed file" if held.get("changed") else ""
        said.append(
            f"Not the model that was saved: loaded with strict=false{changed}, {counted(missing, 'tensor')} missing and"
            f" {left_over} left over."
        )
    return said
