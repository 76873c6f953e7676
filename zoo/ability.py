"""What a mixer or an ffn can do, what others need of it, and the refusal when the two do not meet.

The build refuses by these declarations and the compatibility table is drawn from them, so the two cannot disagree.
"""

from enum import StrEnum
from typing import TYPE_CHECKING

from zoo.errors import UserError

if TYPE_CHECKING:
    from zoo.ffn import FFN
    from zoo.mixer import Mixer


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


def missing(part: "type[Mixer | FFN] | Mixer | FFN", needs: frozenset[Ability]) -> list[Ability]:
    """The needed abilities that the part lacks, in the order of their declaration."""
    return [ability for ability in Ability if ability in needs - part.can]


def refuse_unless(part: "Mixer | FFN", needs: frozenset[Ability], who: str) -> None:
    """Raise UserError unless the part can do all that `who` needs."""
    lacking = missing(part, needs)
    if lacking:
        raise UserError(
            f"{type(part).__name__} cannot {lacking[0]}, which {who} needs; `python -m zoo matrix` shows what combines"
        )
