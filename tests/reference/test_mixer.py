import pytest
import torch
from torch import Tensor, nn

from tests.reference.compare import (
    assert_equal,
    assert_equal_gradients,
    assert_equal_parameter_gradients,
    common,
    copy_all,
    gradient,
    gradients,
    noise,
    randomise,
    real_positions,
)
from tests.reference.weights import MULTIHEAD_ATTENTION
from zoo.context import Context
from zoo.mixer import Mixer, mixers
from zoo.mixer.backend import BACKENDS
from zoo.option import Option
from zoo.position import positions
from zoo.sequence import Sequence

B, T, S, D, H = 3, 6, 5, 16, 4
COMMON = common(D, H)
NO_POSITION = positions.build(Option("none"), COMMON)

backends = pytest.mark.parametrize("backend", sorted(BACKENDS))
biases = pytest.mark.parametrize("bias", [True, False])


def hidden_pairs(causal: bool, window: int | None) -> Tensor:
    """Which key j is hidden from query i, by the definition, one pair after the other."""
    pairs = [[(causal and j > i) or (window is not None and abs(i - j) >= window) for j in range(T)] for i in range(T)]
    return torch.tensor(pairs)


def mixer_and_reference(bias: bool, **values: int | bool) -> tuple[Mixer, nn.MultiheadAttention]:
    reference = nn.MultiheadAttention(D, H, bias=bias, batch_first=True)
    randomise(reference)
    mixer = mixers.build(Option("attention", {"bias": bias, **values}), COMMON)
    copy_all(mixer, dict(reference.named_parameters()), MULTIHEAD_ATTENTION)
    return mixer, reference


def assert_equal_on(
    real: Tensor | None, outputs: Tensor, wanted: Tensor, inputs: tuple[Tensor, ...], theirs: tuple[Tensor, ...]
) -> None:
    """Equal where the position is real, and so are the gradients of the inputs of a loss of real positions."""
    rows = torch.ones(B, T, dtype=torch.bool) if real is None else real
    assert_equal(outputs[rows], wanted[rows])
    probe = noise(B, T, D, seed=2)
    for y in (outputs, wanted):
        (y * probe)[rows].sum().backward()
    for x, y in zip(inputs, theirs, strict=True):
        assert_equal_gradients({"the input": gradient(x)}, {"the input": gradient(y)})


@backends
@biases
@pytest.mark.parametrize("padding", [None, "right", "left"])
@pytest.mark.parametrize("window", [None, 2, 4])
@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_equals_torch(
    causal: bool, window: int | None, padding: str | None, bias: bool, backend: str
) -> None:
    mixer, reference = mixer_and_reference(bias, **({} if window is None else {"window": window}))
    x, y = (noise(B, T, D).requires_grad_() for _ in range(2))
    real = real_positions(padding, T, 4, 1)
    sequence = Sequence.of(torch.zeros(B, T, dtype=torch.long), real)
    outputs = mixer(x, Context(sequence, sequence, causal, NO_POSITION, BACKENDS[backend]))
    wanted, _ = reference(
        y,
        y,
        y,
        key_padding_mask=None if real is None else ~real,
        attn_mask=hidden_pairs(causal, window),
        need_weights=False,
    )
    assert_equal_on(real, outputs, wanted, (x,), (y,))
    assert_equal_parameter_gradients(mixer, reference, MULTIHEAD_ATTENTION)


@backends
@biases
@pytest.mark.parametrize("padding", [None, "right", "left", "holes"])
@pytest.mark.parametrize("window", [None, 2])
def test_cross_attention_equals_torch_and_no_window_limits_it(
    window: int | None, padding: str | None, bias: bool, backend: str
) -> None:
    mixer, reference = mixer_and_reference(bias, **({} if window is None else {"window": window}))
    x, y = (noise(B, T, D).requires_grad_() for _ in range(2))
    memory, read = (noise(B, S, D, seed=3).requires_grad_() for _ in range(2))
    real = real_positions(padding, S, 3, 1)
    queries, keys = (Sequence.of(torch.zeros(B, n, dtype=torch.long), r) for n, r in ((T, None), (S, real)))
    outputs = mixer(x, Context(queries, keys, False, NO_POSITION, BACKENDS[backend], memory=memory))
    wanted, _ = reference(y, read, read, key_padding_mask=None if real is None else ~real, need_weights=False)
    assert_equal_on(None, outputs, wanted, (x, memory), (y, read))
    assert_equal_parameter_gradients(mixer, reference, MULTIHEAD_ATTENTION)


@backends
@pytest.mark.parametrize("causal", [False, True])
def test_attention_without_scale_equals_torch_with_larger_queries(causal: bool, backend: str) -> None:
    mixer, reference = mixer_and_reference(True, scale=False)
    larger = (D // H) ** 0.5
    with torch.no_grad():
        reference.in_proj_weight[:D] *= larger
        reference.in_proj_bias[:D] *= larger
    x, y = (noise(B, T, D).requires_grad_() for _ in range(2))
    sequence = Sequence.of(torch.zeros(B, T, dtype=torch.long))
    outputs = mixer(x, Context(sequence, sequence, causal, NO_POSITION, BACKENDS[backend]))
    wanted, _ = reference(y, y, y, attn_mask=hidden_pairs(causal, None), need_weights=False)
    assert_equal_on(None, outputs, wanted, (x,), (y,))


@backends
@pytest.mark.parametrize("groups", [1, 2])
def test_grouped_attention_equals_torch_with_key_value_heads_repeated(groups: int, backend: str) -> None:
    mixer = mixers.build(Option("attention", {"n_kv_heads": groups}), COMMON)
    reference = nn.MultiheadAttention(D, H, batch_first=True)
    randomise(mixer)
    shared = {"q": 1, "k": H // groups, "v": H // groups}  # query heads to one head of ours
    with torch.no_grad():
        for kind, width in (("weight", D), ("bias", 1)):
            heads = [
                mixer.get_parameter(f"{name}.{kind}").view(-1, D // H, width).repeat_interleave(many, dim=0)
                for name, many in shared.items()
            ]
            packed = reference.get_parameter(f"in_proj_{kind}")
            packed.copy_(torch.cat(heads).view(packed.shape))
            reference.get_parameter(f"out_proj.{kind}").copy_(mixer.get_parameter(f"out.{kind}"))
    x, y = (noise(B, T, D).requires_grad_() for _ in range(2))
    sequence = Sequence.of(torch.zeros(B, T, dtype=torch.long))
    outputs = mixer(x, Context(sequence, sequence, True, NO_POSITION, BACKENDS[backend]))
    wanted, _ = reference(y, y, y, attn_mask=hidden_pairs(True, None), need_weights=False)
    assert_equal_on(None, outputs, wanted, (x,), (y,))
    ours, theirs = gradients(mixer), gradients(reference)
    summed = {f"out.{kind}": theirs[f"out_proj.{kind}"] for kind in ("weight", "bias")}
    for kind in ("weight", "bias"):
        for (name, many), part in zip(shared.items(), theirs[f"in_proj_{kind}"].chunk(3), strict=True):
            own = ours[f"{name}.{kind}"]
            summed[f"{name}.{kind}"] = part.unflatten(0, (-1, many, D // H)).sum(dim=1).view(own.shape)
    assert_equal_gradients(ours, summed)
