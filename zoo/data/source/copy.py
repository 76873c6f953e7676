"""The same again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int64

from zoo.data.diagnostic.rearranged import Rearranged
from zoo.data.source import sources


@sources.register("copy")
@dataclass(kw_only=True)
class Copy(Rearranged):
    """`q d d a| q d d a`: random letters, then the same ones. Chance is one of all letters.

    paper: Kazemnejad et al. 2023, arXiv:2305.19466 (copying at lengths that were not trained)
    differs: letters and a bar, where the paper writes an instruction and words.
    """

    @staticmethod
    def order(given: Int64[np.ndarray, "D N"], there: Bool[np.ndarray, "D N"]) -> Int64[np.ndarray, "D N"]:
        return np.broadcast_to(np.arange(given.shape[1]), given.shape)

    @staticmethod
    def rearranged(given: Sequence[int]) -> Sequence[int]:
        return given
