"""Linear layers that read one tensor, as one product: queries, keys and values; gate and up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Joint(nn.Module):
    """x [W₁; W₂; …]ᵀ, computed when the first of the layers asks and handed out piece by piece. The layers' parameters
    become views of the joint ones, so that a value written into them is a value of the product."""

    weight: Tensor
    bias: Tensor | None

    def __init__(self, layers: list[nn.Linear]):
        super().__init__()
        self.sizes = [layer.out_features for layer in layers]
        weight = torch.cat([layer.weight.data.t() for layer in layers], 1).t()  # transposed, as a product reads it
        self.register_buffer("weight", weight)
        biased = layers[0].bias is not None
        self.register_buffer("bias", torch.cat([layer.bias.data for layer in layers]) if biased else None)
        for i, layer in enumerate(layers):
            layer.weight.data = self.weight.split(self.sizes)[i]
            if self.bias is not None:
                layer.bias.data = self.bias.split(self.sizes)[i]
            layer.forward = self._piece(i)  # type: ignore[method-assign, assignment]  # this one layer only
        self._read: Tensor | None = None
        self._made: tuple[Tensor, ...] = ()

    def _piece(self, i: int) -> Callable[[Tensor], Tensor]:
        def forward(x: Tensor) -> Tensor:
            if self._read is not x:
                self._read, self._made = x, F.linear(x, self.weight, self.bias).split(self.sizes, -1)
            return self._made[i]

        return forward


@contextmanager
def joined(model: nn.Module) -> Iterator[None]:
    """Run the model once inside: its linear layers that then read the very same tensor are joined at the end. One whose
    weight is also a table stays alone."""
    readers: dict[int, tuple[Tensor, list[nn.Linear]]] = {}

    def note(layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        assert isinstance(layer, nn.Linear)
        readers.setdefault(id(inputs[0]), (inputs[0], []))[1].append(layer)  # the tensor is kept: so is its id

    linear = [one for one in model.modules() if isinstance(one, nn.Linear)]
    hooks = [one.register_forward_pre_hook(note) for one in linear]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
    groups = [
        [layer for layer in layers if (layer.bias is not None) == biased]
        for _, layers in readers.values()
        for biased in (True, False)
    ]
    model.joints = nn.ModuleList(Joint(group) for group in groups if len(group) > 1)
