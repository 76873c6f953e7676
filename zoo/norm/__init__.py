"""Normalisation: width in, same shape out."""

from abc import abstractmethod
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from zoo.errors import HERE, PartError
from zoo.part import Part
from zoo.registry import Registry


class Norm(Part):
    """Contract: `Norm(width)`; the last axis has that width. Statistics are taken in float32 and the dtype of the input
    comes back; gains start at 1 and biases at 0."""

    absent: ClassVar[bool] = False
    """Whether it leaves x as it is."""

    def __init__(self, width: int):
        super().__init__()
        self.width = width

    @abstractmethod
    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]: ...


def checked(eps: float) -> float:
    """The eps of a norm. Raises UserError below 0, where its root may not exist."""
    if not eps >= 0:
        raise PartError(f"{HERE}.eps={eps} must be at least 0")
    return eps


norms: Registry[Norm] = Registry("norm", Norm, __name__)
