"""The same in alphabetical order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int64

from zoo.data.diagnostic.rearranged import Rearranged
from zoo.data.source import sources


@sources.register("sort")
@dataclass(kw_only=True)
class Sort(Rearranged):
    """`q d d a| a d d q`: random letters, then the same ones, sorted. Chance is one of all letters.

    paper: Graves et al. 2014, arXiv:1410.5401 (sorting, there by given priorities)
    differs: letters in the order of the alphabet, where the paper has random vectors with a number each.
    """

    @staticmethod
    def order(given: Int64[np.ndarray, "D N"], there: Bool[np.ndarray, "D N"]) -> Int64[np.ndarray, "D N"]:
        return np.argsort(np.where(there, given, np.iinfo(np.int64).max), axis=1, kind="stable")

    @staticmethod
    def rearranged(given: Sequence[int]) -> Sequence[int]:
        return sorted(given)
