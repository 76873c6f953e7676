"""Linear layers that read one tensor, as one product: queries, keys and values; gate and up."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Joint(nn.Module):
    """x [W₁; W₂; …]ᵀ, computed when the first of the layers asks; each of the others takes its piece once, after which
    nothing of it is kept. The layers' parameters become views of the joint ones, so that a value written into them is a
    value of the product."""

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
        self._made: dict[int, Tensor] = {}

    def _piece(self, i: int) -> Callable[[Tensor], Tensor]:
        def forward(input: Tensor) -> Tensor:  # as nn.Linear names it
            if self._read is not input or i not in self._made:
                product = F.linear(input, self.weight, self.bias)
                self._read, self._made = input, dict(enumerate(product.split(self.sizes, -1)))
            piece = self._made.pop(i)
            if not self._made:
                self._read = None
            return piece

        return forward


@contextmanager
def joined(model: nn.Module) -> Iterator[None]:
    """Run the model once inside, without gradients: its linear layers that then read the very same tensor, with nothing
    written into it in between, are joined at the end. One stays alone whose weight or bias is also another's, or is
    made anew for each call, that computes anything but x Wᵀ + b, that is read more than once, or that reads a tensor of
    inference mode, for which torch does not count what is written into it."""
    readers: dict[tuple[int, object], list[nn.Linear]] = defaultdict(list)
    read: list[Tensor] = []  # kept, so that no other tensor gets the id of one

    def noting(layer: nn.Linear) -> Callable[[Tensor], Tensor]:
        def forward(input: Tensor) -> Tensor:
            read.append(input)
            readers[id(input), _edition(input)].append(layer)
            return F.linear(input, layer.weight, layer.bias)

        return forward

    noted = _separate(model)
    for layer in noted:
        layer.forward = noting(layer)  # type: ignore[method-assign, assignment]  # whoever calls it, and however
    try:
        with torch.inference_mode(False), torch.no_grad():
            yield
    finally:
        for layer in noted:
            del layer.forward
    calls = Counter(id(layer) for layers in readers.values() for layer in layers)
    groups: dict[object, list[nn.Linear]] = defaultdict(list)
    for key, layers in readers.items():
        for layer in layers:
            if calls[id(layer)] == 1:
                groups[key, layer.bias is not None, layer.weight.dtype].append(layer)
    model.joints = nn.ModuleList(Joint(group) for group in groups.values() if len(group) > 1)


def _separate(model: nn.Module) -> list[nn.Linear]:
    """The linear layers that are nothing but x Wᵀ + b, with parameters of their own."""
    owners = Counter(id(own) for module in model.modules() for own in module.parameters(recurse=False))
    return [
        one
        for one in model.modules()
        if isinstance(one, nn.Linear)
        and type(one).forward is nn.Linear.forward
        and "forward" not in vars(one)
        and all(own is None or owners[id(own)] == 1 for own in (one.weight, one.bias))
    ]


def _edition(x: Tensor) -> object:
    """Another one after each time it was written into; another one each time where torch does not count them."""
    return object() if x.is_inference() else x._version
