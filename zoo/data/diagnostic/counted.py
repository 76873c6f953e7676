"""Things whose number is drawn evenly from a range: how likely it is that there is one more."""

from fractions import Fraction
from typing import Any

import numpy as np

from zoo.errors import UserError

Range = tuple[int, int]


def check_range(key: str, given: Range, least: int = 1) -> None:
    """Raises UserError unless it is a range from `least` on."""
    if not least <= given[0] <= given[1]:
        raise UserError(f"data.{key}={list(given)} must be the smallest and the largest number, from {least} on")


def one_more(given: Range, so_far: int) -> Fraction:
    """The probability that another one comes after so many."""
    low, high = given
    return Fraction(1) if so_far < low else Fraction(high - so_far, high - so_far + 1)


def nats(given: Range, so_far: Any) -> tuple[np.ndarray, np.ndarray]:
    """−log p of going on, and of stopping, after so many; infinite for what cannot be."""
    low, high = given
    count = np.asarray(so_far)
    left = (high - count).astype(np.float64)
    with np.errstate(divide="ignore"):
        go_on = np.where(count < low, 0.0, np.log(left + 1) - np.log(left))
        stop = np.where(count < low, np.inf, np.log(left + 1))
    return go_on, stop
