"""What a mixer or an ffn can do, what others need of it, and the refusal when the two do not meet.

The build refuses by these declarations and the compatibility table is drawn from them, so the two cannot disagree.
"""

from enum import StrEnum
from typing import ClassVar

from zoo.errors import UserError
from zoo.part import Part


class Ability(StrEnum):
    """The value completes the sentence 'this part cannot …'."""

    CAUSAL = "hide the future"
    BIDIRECTIONAL = "look at both sides"
    PREFIX = "see a whole prefix and hide the future after it"
    CROSS = "read another sequence"
    ROTATE = "rotate queries and keys"
    BIAS = "add a bias to its scores"
    PADDING = "skip padding"
    PACKING = "keep packed documents apart"
    STATE = "carry a state from call to call"
    ROLLBACK = "go back in its state"
    WEIGHTS = "show how much each position looks at each other one"


class Able(Part):
    """Contract of the parts that are asked what they can do: mixers and ffns."""

    can: ClassVar[frozenset[Ability]]


def missing(part: type[Able] | Able, needs: frozenset[Ability]) -> list[Ability]:
    """The needed abilities that the part lacks, in the order of their declaration."""
    return [ability for ability in Ability if ability in needs - part.can]


def refuse_unless(part: Able, needs: frozenset[Ability], who: str) -> None:
    """Raise UserError unless the part can do all that `who` needs."""
    lacking = missing(part, needs)
    if lacking:
        raise UserError(
            f"{type(part).__name__} cannot {lacking[0]}, which {who} needs; `python -m zoo matrix` shows what combines"
        )
