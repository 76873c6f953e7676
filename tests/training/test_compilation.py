"""What torch's compiler is told, seen in the code that it makes."""

import shutil
from collections.abc import Callable, Iterator
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
