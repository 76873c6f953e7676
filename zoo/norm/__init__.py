"""Normalisation: width in, same shape out."""

from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor

from zoo.common import Part
from zoo.registry import Registry


class Norm(Part):
    """Contract: `Norm(width)`; the last axis has that width. Statistics are taken in float32 and the dtype of the input
    comes back; gains start at 1 and biases at 0."""

    def __init__(self, width: int):
        super().__init__()
        self.width = width

    @abstractmethod
    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]: ...


norms: Registry[Norm] = Registry("norm", Norm, __name__)
