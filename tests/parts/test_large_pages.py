"""A large tensor on large pages is a tensor like any other."""

import copy
import gc

import pytest
import torch

from tests.helpers import draw, model
from zoo.inference.memory import PeakTensors
from zoo.mixer import large_pages
from zoo.mixer.large_pages import KEPT, LARGE_PAGE, empty


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_large_tensor_begins_on_a_page_and_is_its_own(dtype: torch.dtype) -> None:
    like = torch.empty(0, dtype=dtype)
    one, other = (empty(like, 3, 5, 140_001) for _ in range(2))
    assert (one.shape, one.dtype, one.is_contiguous()) == ((3, 5, 140_001), dtype, True)
    assert one.untyped_storage().nbytes() == one.numel() * one.element_size() > LARGE_PAGE
    assert one.data_ptr() % LARGE_PAGE == other.data_ptr() % LARGE_PAGE == 0
    one.fill_(1)
    other.fill_(2)
    kept, part = copy.deepcopy(one), other[1]
    del one, other
    gc.collect()
    assert (kept == 1).all()
    assert (part == 2).all()


def test_memory_serves_again_once_no_tensor_looks_at_it_any_more_and_little_of_it_waits() -> None:
    one, other = (empty(torch.empty(0), 3, 140_007, 3) for _ in range(2))
    place, part = one.data_ptr(), one[1, 5:]
    del one
    another = empty(torch.empty(0), 3, 140_007, 3)
    assert another.data_ptr() not in (place, other.data_ptr())
    del part
    assert empty(torch.empty(0), 9, 140_007).data_ptr() == place
    many = [empty(torch.empty(0, dtype=torch.uint8), KEPT // 4 + i) for i in range(5)]
    del many, other, another
    assert KEPT // 2 < sum(map(len, large_pages._waiting)) <= KEPT


def test_its_bytes_are_counted_and_given_back() -> None:
    with PeakTensors() as peak:
        for _ in range(3):
            empty(torch.empty(0), LARGE_PAGE)
            gc.collect()
    assert peak.bytes == 4 * LARGE_PAGE


def test_a_small_one_takes_no_more_than_it_needs() -> None:
    assert empty(torch.empty(0), 7, 2).untyped_storage().nbytes() == 56


@torch.no_grad()
def test_a_long_state_lies_there() -> None:
    built = model()
    state = built.start(2, LARGE_PAGE)
    built(draw(2, 3), state=state)
    keys = state.layers[0].mixer.keys
    assert keys.data_ptr() % LARGE_PAGE == 0
    assert keys.numel() * keys.element_size() > LARGE_PAGE
