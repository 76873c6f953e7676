"""Linear layers that read one tensor are one product, which gives what they gave and follows their weights."""

import pytest
import torch
import torch.nn.functional as F

from tests.helpers import close, draw, logits, model
from zoo.inference.joint import Joint, joined
from zoo.inference.packed import packed, refresh


@pytest.mark.usefixtures("unchecked")
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
    first, second = torch.nn.Linear(4, 3), torch.nn.Linear(4, 2)
    x, y = torch.randn(5, 4), torch.randn(5, 4)
    wanted = first(x), second(y)
    Joint([first, second])
    assert close(first(x), wanted[0])
    assert close(second(y), wanted[1])
