"""Whole numbers of a part that set how large it is, so that a model can be made as large as another."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Knob:
    """A key of the part's option, with dots where it is a key of an option inside it. The costs of a model never fall
    when it grows."""

    key: str
    divides_heads: bool = False
    """Whether it must divide the model's number of heads; else any number of at least 1 will do."""
