"""Linear layers that read one tensor are one product, which gives what they gave and follows their weights."""

from copy import deepcopy

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

from tests.helpers import close, draw, logits, model
from zoo.inference.joint import Joint, joined
from zoo.inference.packed import packed, refresh


@pytest.mark.unchecked
@pytest.mark.parametrize("bias", [True, False])
def test_a_joined_model_is_the_model_and_takes_over_its_weights(bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    built = model(ffn="swiglu", mixer="gqa", bias=bias)
    made, tokens = packed(built), draw(2, 5)
    with torch.no_grad(), joined(made):
        made(tokens)
    block = built.topology.stack.blocks[0]
    wanted = [(block.mixer.q, block.mixer.k, block.mixer.v), (block.ffn.gate, block.ffn.up)]
    assert [one.sizes for one in made.joints[:2]] == [[layer.out_features for layer in group] for group in wanted]
    assert all((one.bias is not None) == bias for one in made.joints)
    assert close(logits(made, tokens), logits(built, tokens))
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.add_(0.1)
    refresh(made, built)
    assert close(logits(made, tokens), logits(built, tokens))
    called = []
    real = F.linear
    monkeypatch.setattr(F, "linear", lambda *a: called.append(a) or real(*a))
    made(tokens)
    layers = len(built.topology.stack.blocks)
    assert len(called) == 4 * layers + 1  # q k v, out, gate and up, down; the head


def test_layers_that_read_different_tensors_get_each_its_own() -> None:
    first, second = nn.Linear(4, 3), nn.Linear(4, 2)
    x, y = torch.randn(5, 4), torch.randn(5, 4)
    wanted = first(x), second(y)
    Joint([first, second])
    assert close(first(x), wanted[0])
    assert close(second(y), wanted[1])


def test_what_was_handed_out_is_not_kept_and_follows_a_weight_that_changes() -> None:
    first, second, x = nn.Linear(4, 3), nn.Linear(4, 2), torch.randn(5, 4)
    joint = Joint([first, second])
    for _ in range(2):
        assert close(first(x), F.linear(x, first.weight, first.bias))
        assert close(second(x), F.linear(x, second.weight, second.bias))
        assert joint._read is None
        assert not joint._made
        first.weight.data.add_(1.0)


class Threefold(nn.Linear):
    """Computes something else than its weight and bias say."""

    def forward(self, x: Tensor) -> Tensor:
        return 3 * super().forward(x)


class Two(nn.Module):
    """Two layers that read one tensor, one after the other."""

    def __init__(self, first: nn.Linear, second: nn.Linear):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x: Tensor) -> Tensor:
        return self.first(x) - 2 * self.second(input=x)


class Twice(Two):
    """The first of the layers reads two tensors."""

    def forward(self, x: Tensor) -> Tensor:
        return self.first(x) - 2 * self.second(x) + self.first(-x)


class InTwoWays(Two):
    """The first of the layers reads twice, in two ways."""

    def forward(self, x: Tensor) -> Tensor:
        return self.first(x) - 2 * self.second(x) + self.first(input=x)


class Past(Two):
    """The same, past the call in which hooks are heard."""

    def forward(self, x: Tensor) -> Tensor:
        return self.first(x) - 2 * self.second(x) + self.first.forward(x)


class Overwriting(Two):
    """The tensor is another one when the second layer reads it."""

    def forward(self, x: Tensor) -> Tensor:
        x = x.clone()
        first = self.first(x)
        return first - 2 * self.second(x.mul_(3))


class Uncounted(Two):
    """The same, in inference mode, where torch does not count what is written."""

    def forward(self, x: Tensor) -> Tensor:
        with torch.inference_mode():
            x = x.clone()
            first = self.first(x)
            return first - 2 * self.second(x.mul_(3))


class Plain(Two):
    """Nothing stands against a joint product here."""

    def forward(self, x: Tensor) -> Tensor:
        x = x + 1  # made here, in whatever mode
        return self.first(x) - 2 * self.second(x)


def two(kind: type[Two], shared: str = "") -> Two:
    """Two such layers, which may share a weight or a bias."""
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    if shared:
        setattr(second, shared, getattr(first, shared))
    return kind(first, second)


def with_table() -> nn.Module:
    """One whose weight is also a table."""
    made = two(Plain)
    made.table = nn.Embedding(4, 4)
    made.first.weight = made.table.weight
    return made


@pytest.mark.parametrize(
    ("make", "joints"),
    [
        (lambda: two(Plain), 1),
        (lambda: two(Plain, "weight"), 0),
        (lambda: two(Plain, "bias"), 0),
        (lambda: Plain(Threefold(4, 4), Threefold(4, 4)), 0),
        (lambda: Plain(weight_norm(nn.Linear(4, 4)), weight_norm(nn.Linear(4, 4))), 0),
        (lambda: Plain(nn.Linear(4, 4), nn.Linear(4, 4, bias=False)), 0),
        (lambda: two(Two), 1),
        (lambda: two(InTwoWays), 0),
        (lambda: two(Past), 0),
        (lambda: two(Uncounted), 0),
        (lambda: two(Twice), 0),
        (lambda: two(Overwriting), 0),
        (with_table, 0),
    ],
)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_only_layers_that_are_a_product_of_their_own_are_joined(make, joints: int, mode) -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 4)
    with mode():
        built = make()
        made = deepcopy(built)
        with joined(made):
            made(x)
        assert len(made.joints) == joints
        assert close(made(x), built(x))
        own = dict(made.named_parameters())
        for name, parameter in built.named_parameters():
            own[name].copy_(parameter.add_(torch.randn_like(parameter)))
        assert close(made(x), built(x))
