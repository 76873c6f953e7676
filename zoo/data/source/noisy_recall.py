"""Associative recall with words between that mean nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from zoo.data.diagnostic.recalling import Recalling
from zoo.data.source import sources


@sources.register("noisy_recall")
@dataclass(kw_only=True)
class NoisyRecall(Recalling):
    """`c 7 B D a 2 B c 7`: in-context recall with `fillers` words of noise between pairs, of `noise` kinds.

    paper: Poli et al. 2024, arXiv:2403.17844 (MAD), section 3.1
    differs: noise never parts a key from its value, and never stands in the place of either.
    """

    fillers: int = 12
    noise: int = 16

    def alphabet(self) -> Sequence[bytes]:
        self.at_least(0, fillers=self.fillers)
        self.at_least(1, noise=self.noise)
        return super().alphabet()

    @property
    def noises(self) -> tuple[int, int]:
        return self.fillers, self.noise
