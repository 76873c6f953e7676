"""What torch's compiler is told, seen in the code that it makes."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from zoo.errors import RunFailed
from zoo.jobs.fresh import start_fresh
from zoo.training.compilation import add_rows_in_order, compiling


@pytest.fixture(autouse=True)
def after() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)  # code of one thread has no order to lose
    yield
    torch.set_num_threads(threads)
    start_fresh()


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")  # torch imports its own
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_compiled_code_adds_the_rows_of_a_table_in_their_order() -> None:
    """Else the order is that in which threads come to them."""
    from torch._inductor.utils import run_and_get_code

    def loss(table: Tensor, tokens: Tensor) -> Tensor:
        return nn.functional.embedding(tokens, table).square().sum()

    def gradient(of: Callable[..., Tensor]) -> Tensor:
        return torch.autograd.grad(of(table, tokens), table)[0]

    table, tokens = torch.randn(50, 8, requires_grad=True), torch.arange(400) % 7
    add_rows_in_order(torch.device("cpu"))
    found, code = run_and_get_code(gradient, torch.compile(loss))
    assert torch.equal(found, gradient(loss))
    assert code
    assert not any("atomic_add" in one for one in code)


ROOT = Path(__file__).resolve().parents[2]

ONE_PROGRAM = """
import torch
from torch._dynamo.utils import counters
import zoo
from zoo.training.compilation import keep_counts_in_the_program

keep_counts_in_the_program()
sizes = "model.d_model=16", "model.n_layers=1", "model.ffn.experts=3", "model.ffn.expert.d_ff=8"
model = zoo.build("modern", "model/ffn=moe", *sizes, vocabulary=32)
compiled = torch.compile(model, backend="aot_eager")  # fullgraph would set what is tested

def gradients(by, **inputs):
    output = by(**inputs)
    loss = output.logits.square().sum() + output.auxiliary["balance"]
    return [loss.detach(), *torch.autograd.grad(loss, list(model.parameters()))]

def alike(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, rtol=1e-5, atol=1e-6), (one - other).abs().max()

with torch.no_grad():  # scores need no gradients
    tokens = torch.arange(4 * 9).view(4, 9) % 9 + 1
    alike([compiled(tokens).logits], [model(tokens).logits])
for padded in False, True:
    torch.compiler.reset()
    counters.clear()
    for last in 3, 31:
        tokens, lengths = torch.arange(4 * 9).view(4, 9) % last + 1, torch.tensor([9, last % 7, 5, 1])
        padding = torch.arange(9) < lengths[:, None] if padded else None
        alike(*(gradients(by, tokens=tokens, padding=padding) for by in (model, compiled)))
    assert counters["stats"]["unique_graphs"] == 1, counters
    assert not counters["graph_break"], counters
"""


def test_a_mixture_of_experts_is_one_program_whatever_its_experts_get() -> None:
    """Else code is made again for each number of tokens that an expert is seen to get. A process of its own: checks of
    shapes are not compiled."""
    done = subprocess.run([sys.executable, "-c", ONE_PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_the_compiler_raises_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(graph: Any, inputs: Any) -> Any:
        raise ImportError("/cache/a.so: file too short")

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "/cache")
    said = r"compiler failed: .*a.so: file too short\. Set runtime.compile=false, or remove /cache:"
    with pytest.raises(RunFailed, match=said), compiling():
        torch.compile(torch.sin, backend=broken)(torch.ones(2))


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(ImportError), compiling():
        raise ImportError("file too short")
