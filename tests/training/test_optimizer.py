import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from torch import nn

from tests.helpers import model as built
from tests.training.tiny_training import Tiny, UsersNorm, fill
from zoo.errors import UserError
from zoo.roles import Linear, Role, set_role
from zoo.schema import fields, parse_option
from zoo.training.optimizer import newton_schulz, optimizers

CONF = Path(__file__).parents[2] / "conf" / "optimizer"
DECAYED = {"up.weight", "down.weight"}
ALL = {"rates", "embedding.weight", "norm.stretch", "norm.bias", "up.weight", "up.bias", "down.weight", "head.weight"}


def build(name, model, **values):
    return optimizers.get(name)(model, **values)


def gradients(model, step):
    generator = torch.Generator().manual_seed(step)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator).to(parameter.dtype)


def decayed(optimizer):
    groups = [group for inner in optimizer.inner for group in inner.param_groups]
    return {name for group in groups if group["weight_decay"] for name in group["param_names"]}


def run(optimizer, model, steps=5, factor=1.0, start=0):
    for step in range(start, start + steps):
        gradients(model, step)
        optimizer.step(factor, optimizer.grad_norm())


def closed_form(name, model, steps, *, lr, weight_decay, betas=(0.9, 0.98), eps=1e-9, momentum=0.9):
    """The textbook loops, one parameter at a time."""
    final = {}
    names = [name for name, _ in model.named_parameters()]
    for i, (key, w) in enumerate((k, p.detach().clone()) for k, p in model.named_parameters()):
        decay = weight_decay if key in DECAYED else 0.0
        m, v = torch.zeros_like(w), torch.zeros_like(w)
        for step in range(steps):
            generator = torch.Generator().manual_seed(step)
            g = [torch.randn(p.shape, generator=generator).to(w.dtype) for p in model.parameters()][i]
            if name == "sgd":
                m = momentum * m + g + decay * w
                w = w - lr * m
                continue
            g = g + decay * w if name == "adam_2017" else g
            w = w * (1 - lr * decay) if name == "adamw" else w
            m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g**2
            w = w - lr * (m / (1 - betas[0] ** (step + 1))) / ((v / (1 - betas[1] ** (step + 1))).sqrt() + eps)
        final[key] = w
    assert names == list(final)
    return final


@pytest.mark.parametrize(("name", "own"), [("adamw", "betas"), ("adam_2017", "betas"), ("sgd", "momentum")])
def test_updates_are_the_textbook_loop_in_float64(name, own):
    model = Tiny().double()
    values = {"lr": 0.02, "weight_decay": 0.3}
    constants = {"betas": (0.9, 0.98), "eps": 1e-9} if own == "betas" else {"momentum": 0.9}
    expected = closed_form(name, model, 5, **values, **constants)
    run(build(name, model, **values, **constants, clip=None), model)
    for key, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.detach(), expected[key], rtol=1e-10, atol=1e-12)


def test_a_muon_update_is_orthogonal_and_as_large_as_an_adamw_update():
    model = Tiny(width=16)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimizer = build("muon", model, lr=1.0, weight_decay=0.0, clip=None)
    run(optimizer, model, steps=1)
    assert optimizer.groups()["muon"] == ["up.weight", "down.weight"]
    for name in ("up.weight", "down.weight"):
        update = before[name] - model.get_parameter(name).detach()
        singular = torch.linalg.svdvals(update) / (0.2 * 32**0.5)
        assert singular.min() > 0.5
        assert singular.max() < 1.3
    head = before["head.weight"] - model.head.weight.detach()
    torch.testing.assert_close(head.abs(), torch.ones_like(head), rtol=1e-3, atol=1e-3)  # AdamW's first update


def test_muon_is_the_textbook_loop_in_float64():
    model = Tiny(width=16).double()
    weights = {key: model.get_parameter(key).detach().clone() for key in ("up.weight", "down.weight")}
    optimizer = build("muon", model, lr=0.02, weight_decay=0.3, momentum=0.9, clip=None)
    buffers = {key: torch.zeros_like(w) for key, w in weights.items()}
    for step in range(5):
        run(optimizer, model, steps=1, start=step)
        for key, w in weights.items():
            gradient = model.get_parameter(key).grad
            buffers[key] = 0.9 * buffers[key] + 0.1 * gradient
            left, s, right = torch.linalg.svd(0.1 * gradient + 0.9 * buffers[key], full_matrices=False)
            s = s / s.square().sum().sqrt()
            for _ in range(5):
                s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
            update = left * s @ right
            weights[key] = (1 - 0.02 * 0.3) * w - 0.02 * 0.2 * max(w.shape) ** 0.5 * update
    for key, w in weights.items():
        torch.testing.assert_close(model.get_parameter(key).detach(), w, rtol=1e-10, atol=1e-12)


def test_muon_is_that_of_torch_whatever_shares_a_shape(monkeypatch):
    shapes = [(8, 24), (24, 8), (8, 24), (8, 8), (24, 8), (8, 8), (5, 7)]
    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(shape, generator=generator) for shape in shapes]
    ours, theirs = ([nn.Parameter(one.clone()) for one in start] for _ in range(2))
    settings = {"lr": 0.02, "momentum": 0.95}
    monkeypatch.setattr(newton_schulz, "AT_ONCE", 400)  # two of the larger shape at once
    own = newton_schulz.OrthogonalMomentum([{"params": ours, "weight_decay": 0.1}], **settings)
    torchs = torch.optim.Muon(theirs, weight_decay=0.1, adjust_lr_fn="match_rms_adamw", **settings)
    for _ in range(3):
        for one, other in zip(ours, theirs, strict=True):
            one.grad = other.grad = torch.randn(one.shape, generator=generator)
        own.step()
        torchs.step()
    for one, other, before in zip(ours, theirs, start, strict=True):
        moved = (one - before).detach()
        assert (one - other).norm() < 0.02 * moved.norm()  # torch's is rounded to bfloat16
        assert torch.equal(own.state[one]["momentum_buffer"], torchs.state[other]["momentum_buffer"])


def test_muon_leaves_stacked_matrices_and_a_model_without_matrices_to_adamw():
    model = nn.Module()
    model.experts = nn.Parameter(torch.zeros(3, 4, 4))
    set_role(model, "experts", Role.MATRIX)
    assert build("muon", model).groups() == {"decayed": ["experts"]}


def test_muon_has_each_matrix_of_each_expert_and_no_router():
    groups = build("muon", built("modern", ffn="moe", n_layers=1)).groups()
    experts = [name for name in groups["muon"] if ".experts." in name]
    assert len(experts) == 8 * 3
    assert not any("router" in name for name in groups["muon"])


@pytest.mark.parametrize("name", optimizers.names())
def test_only_matrices_decay_and_each_parameter_is_in_one_group(name):
    optimizer = build(name, Tiny(), weight_decay=0.1)
    assert decayed(optimizer) == DECAYED
    assert sorted(one for names in optimizer.groups().values() for one in names) == sorted(ALL)


@pytest.mark.parametrize("name", optimizers.names())
def test_embeddings_decay_only_when_the_switch_says_so(name):
    assert decayed(build(name, Tiny(), weight_decay=0.1, decay_embeddings=True)) == DECAYED | {
        "embedding.weight",
        "head.weight",
    }


@pytest.mark.parametrize("name", optimizers.names())
@pytest.mark.parametrize("switch", [False, True])
def test_tying_the_head_switches_no_decay(name, switch):
    tied, untied = (build(name, Tiny(tied=one), weight_decay=0.1, decay_embeddings=switch) for one in (True, False))
    assert decayed(tied) == decayed(untied) - {"head.weight"}
    assert ("embedding.weight" in decayed(tied)) is ("head.weight" in decayed(untied)) is switch
    assert "head.weight" not in {one for names in tied.groups().values() for one in names}


def test_a_users_norm_with_vectors_never_decays():
    model = nn.Sequential(UsersNorm(4), Linear(4, 4, bias=True))
    assert decayed(build("adamw", model, decay_embeddings=True)) == {"1.weight"}


def test_a_vector_never_decays_whatever_its_role():
    model = Linear(4, 4, bias=True)
    set_role(model, "bias", Role.ROUTER)
    assert decayed(build("adamw", model)) == {"weight"}


def test_own_parameters_never_decay_even_as_matrices():
    assert "rates" not in decayed(build("adamw", Tiny(), decay_embeddings=True))


def test_a_compiled_model_has_the_same_groups():
    compiled = torch.compile(Tiny(), backend="eager")
    for name in optimizers.names():
        assert build(name, compiled).groups() == build(name, Tiny()).groups()


@pytest.mark.parametrize("name", optimizers.names())
def test_the_rate_of_an_update_is_lr_times_the_factor(name):
    one, other = Tiny(), Tiny()
    run(build(name, one, lr=0.02, clip=None), one, factor=0.5)
    run(build(name, other, lr=0.01, clip=None), other, factor=1.0)
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b)


def test_clipping_bounds_the_norm_over_all_groups_and_the_reported_norm_is_unclipped():
    model = Tiny()
    optimizer = build("sgd", model, lr=1.0, momentum=0.0, clip=0.5)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    gradients(model, 0)
    norm = torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm()
    torch.testing.assert_close(optimizer.grad_norm(), norm)
    optimizer.step(1.0, optimizer.grad_norm())
    moved = torch.cat([(b - p.detach()).flatten() for b, p in zip(before, model.parameters(), strict=True)])
    torch.testing.assert_close(moved.norm(), torch.tensor(0.5), rtol=1e-4, atol=0)


def test_a_small_gradient_is_not_clipped():
    one, other = Tiny(), Tiny()
    run(build("sgd", one, clip=1e6), one)
    run(build("sgd", other, clip=None), other)
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)


def test_the_average_is_exponential_and_starts_at_the_first_update():
    model = Tiny()
    optimizer = build("sgd", model, ema=0.9)
    expected = None
    for step in range(4):
        run(optimizer, model, steps=1, start=step)
        present = model.up.weight.detach().clone()
        expected = present if expected is None else 0.9 * expected + 0.1 * present
    torch.testing.assert_close(optimizer.average.weights["up.weight"], expected)


def test_the_average_is_lent_to_the_model_and_its_own_weights_come_back():
    model = Tiny(tied=True)
    optimizer = build("adamw", model, ema=0.5)
    run(optimizer, model)
    own = model.embedding.weight.detach().clone()
    with optimizer.averaged():
        assert torch.equal(model.head.weight, optimizer.average.weights["embedding.weight"])
        assert not torch.equal(model.head.weight, own)
    with pytest.raises(KeyError), optimizer.averaged():
        raise KeyError
    assert torch.equal(model.head.weight, own)
    assert model.head.weight is model.embedding.weight


@pytest.mark.parametrize("name", optimizers.names())
def test_a_restored_optimizer_goes_on_bit_for_bit(name):
    straight, stopped = Tiny(), Tiny()
    run(build(name, straight, ema=0.9), straight, steps=6)
    first = build(name, stopped, ema=0.9)
    run(first, stopped, steps=3)
    second = build(name, stopped, ema=0.9)
    second.load_state_dict(first.state_dict())
    second.average.load(first.average.weights)
    run(second, stopped, steps=3, start=3)
    for a, b in zip(straight.parameters(), stopped.parameters(), strict=True):
        assert torch.equal(a, b)


def test_the_saved_state_is_plain_and_named_by_parameter():
    model = Tiny()
    optimizer = build("muon", model)
    run(optimizer, model)
    state = optimizer.state_dict()
    assert state.keys() == ALL
    assert all(isinstance(value, torch.Tensor | int | float) for one in state.values() for value in one.values())


def test_state_of_another_model_is_refused_by_name():
    model = nn.Sequential(Linear(4, 4, bias=False))
    fill(model)
    optimizer = build("adamw", model, ema=0.9)
    with pytest.raises(UserError, match=r"embedding\.weight"):
        optimizer.load_state_dict({"embedding.weight": {}})
    with pytest.raises(UserError, match=r"0\.weight.*embedding\.weight"):
        optimizer.average.load({"embedding.weight": torch.zeros(1)})


@pytest.mark.parametrize("name", optimizers.names())
@pytest.mark.parametrize("values", [{"lr": 0.0}, {"weight_decay": -0.1}, {"clip": 0.0}, {"ema": 1.0}])
def test_impossible_values_are_refused_by_name(name, values):
    (key,) = values
    with pytest.raises(UserError, match=f"optimizer.{key}="):
        build(name, Tiny(), **values)


@pytest.mark.parametrize("name", [name for name in optimizers.names() if "betas" in fields(optimizers.get(name))])
@pytest.mark.parametrize("values", [{"eps": -1.0}, {"eps": 0.0}, {"betas": (1.0, 0.9)}, {"betas": (0.9, -0.1)}])
def test_impossible_constants_of_adam_are_refused_by_name(name, values):
    (key,) = values
    with pytest.raises(UserError, match=f"optimizer.{key}="):
        build(name, Tiny(), **values)


def test_state_of_another_shape_is_refused_by_name():
    narrow, wide = Tiny(width=4), Tiny(width=8)
    saved, other = build("adamw", narrow, ema=0.9), build("adamw", wide, ema=0.9)
    run(saved, narrow, steps=1)
    with pytest.raises(UserError, match="does not fit its shape"):
        other.load_state_dict(saved.state_dict())
    with pytest.raises(UserError, match="saved average of"):
        other.average.load(saved.average.weights)


@pytest.mark.parametrize("name", optimizers.names())
def test_every_optimizer_has_a_file_that_sets_all_its_keys(name):
    text = (CONF / f"{name}.yaml").read_text()
    node = yaml.safe_load(text)
    assert text.startswith("# ")
    assert node.keys() - {"name"} == fields(optimizers.get(name)).keys()
    assert {"lr", "weight_decay", "decay_embeddings", "clip", "ema"} <= node.keys()
    optimizers.build(parse_option("optimizer", node, "optimizer"), Tiny())


@pytest.mark.parametrize(
    "harm",
    [
        lambda state: state.pop("up.bias"),
        lambda state: state["up.bias"].pop("exp_avg"),
        lambda state: state["up.bias"].update(other=torch.zeros(16)),
        lambda state: state["up.bias"].update(exp_avg=torch.zeros(1)),
        lambda state: state["up.bias"].update(exp_avg=0.0),
        lambda state: state["up.bias"].update(exp_avg=torch.zeros(16, dtype=torch.int64)),
        lambda state: state["up.bias"].update(exp_avg=torch.zeros(16, device="meta")),
        lambda state: state["up.bias"].update(exp_avg=torch.zeros(16).to_sparse()),
        lambda state: state["up.bias"].update(exp_avg=torch.full((16,), float("nan"))),
        lambda state: state["up.bias"].update(exp_avg=torch.full((16,), 1e300, dtype=torch.float64)),
        lambda state: state["up.bias"].update(step=torch.zeros(16)),
        lambda state: state["up.bias"].update(step=torch.tensor(float("nan"))),
        lambda state: state.update({"up.bias": [1]}),
    ],
)
def test_a_damaged_state_is_refused_by_name_and_changes_nothing(harm):
    model = Tiny()
    saved, other = build("adamw", model), build("adamw", model)
    run(saved, model, steps=1)
    state = {name: dict(one) for name, one in saved.state_dict().items()}
    harm(state)
    with pytest.raises(UserError, match=r"saved optimizer state .*up\.bias"):
        other.load_state_dict(state)
    assert not any(other.state_dict().values())


@pytest.mark.parametrize("name", optimizers.names())
def test_a_parameter_without_a_gradient_so_far_comes_back_as_such(name):
    model = Tiny()
    saved, other = build(name, model), build(name, model)
    gradients(model, 0)
    model.up.bias.grad = None
    saved.step(1.0, saved.grad_norm())
    other.load_state_dict(saved.state_dict())
    assert other.state_dict().keys() == ALL
    assert other.state_dict()["up.bias"] == {}


def test_a_state_of_one_stored_number_gets_memory_of_its_own():
    model = Tiny()
    saved, other = build("adamw", model), build("adamw", model)
    run(saved, model, steps=1)
    state = {
        key: {**one, "exp_avg": torch.zeros(1).expand(one["exp_avg"].shape)} for key, one in saved.state_dict().items()
    }
    other.load_state_dict(state)
    assert all(one["exp_avg"].is_contiguous() for one in other.state_dict().values())


WITHOUT_COMPILER = """
import sys, torch
from tests.training.tiny_training import Tiny
from zoo.training.optimizer import optimizers
for name in optimizers.names():
    model = Tiny()
    optimizer = optimizers.get(name)(model, ema=0.9)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step(1.0, optimizer.grad_norm())
    optimizer.load_state_dict(optimizer.state_dict())
assert "torch._dynamo" not in sys.modules
"""


def test_no_optimizer_imports_the_compiler():
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", WITHOUT_COMPILER]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
