"""An ffn that looks back has a seat: its state, its costs and its refusals; and a layer may have no ffn at all."""

import pytest
import torch

from tests.helpers import close, draw, model, real_of, refusal
from tests.laws.shifting_ffn import register_shifting
from zoo.errors import UserError


def test_an_ffn_that_looks_back_goes_on_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    built = model(ffn=register_shifting(monkeypatch))
    tokens = draw(2, 9)
    whole = built(tokens).logits
    assert not close(whole, model(ffn="none")(tokens).logits)
    for sizes in ([1] * 9, [3, 3, 3], [7, 2]):
        state = built.start(2, 9)
        assert close(torch.cat([built(part, state=state).logits for part in tokens.split(sizes, 1)], 1), whole), sizes
    assert built.state_elements(9) - model(ffn="none").state_elements(9) == len(built.topology.stack.blocks) * 16
    kept = sum(t.numel() for layer in state.layers for one in layer.states for t in one.tensors())
    assert kept == 2 * built.state_elements(9)


def test_what_such_an_ffn_cannot_do_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    shifting = register_shifting(monkeypatch)
    assert refusal(topology="encoder_only", ffn=shifting).startswith("Shifting cannot look at both sides, which topo")
    with pytest.raises(UserError, match="Shifting cannot skip padding, which this batch needs"):
        model(ffn=shifting)(draw(2, 9), padding=real_of([9, 4], 9, "left"))


@pytest.mark.parametrize("expert", ["none", "shifting"])
def test_an_expert_is_an_ffn_of_single_positions(expert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    node = register_shifting(monkeypatch) if expert == "shifting" else {"name": "none"}
    assert "an expert must be a dense ffn" in refusal(ffn={"name": "moe", "expert": node, "experts": 2, "k": 2})


@pytest.mark.parametrize("block", ["pre_norm", "post_norm"])
def test_a_layer_without_an_ffn_has_neither_it_nor_its_norm(block: str) -> None:
    names = [name for name, _ in model(block=block, ffn="none").topology.stack.named_parameters()]
    assert names
    assert not any("ffn" in name for name in names)
