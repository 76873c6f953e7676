"""Associative recall while the pairs come in."""

from dataclasses import dataclass

from zoo.data.diagnostic.recalling import Recalling
from zoo.data.source import sources


@sources.register("in_context_recall")
@dataclass(kw_only=True)
class InContextRecall(Recalling):
    """`c 7 a 2 c 7 f 0 a 2`: keys and values in turns; a key that comes again has the value that it had. Chance is one
    of the values so far.

    paper: Poli et al. 2024, arXiv:2403.17844 (MAD), section 3.1
    differs: a value belongs to one key, so that chance is known.
    """

    @property
    def noises(self) -> tuple[int, int]:
        return 0, 0
