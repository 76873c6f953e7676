"""What all tests share."""

import gc
import os
import signal
from collections import defaultdict
from collections.abc import Generator

import pytest
from hydra.core.hydra_config import HydraConfig
from jaxtyping import config as shape_checks

os.environ["HF_HUB_OFFLINE"] = "1"  # no test reaches a network
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in its background would ignore Ctrl-C

CHECKED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: looking through it for garbage took a fifth of the time, and some of that of each
    test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose the cases in which the shapes of all calls are checked, which makes a small model three times as slow:
    every test that stands alone and is not marked as `unchecked`; of a law that loops over several axes, those on a
    diagonal through its cases, so that each option of each axis is in one of them."""
    cases = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            cases[item.nodeid.partition("[")[0]].append(item)
        else:
            item.stash[CHECKED] = item.get_closest_marker("unchecked") is None
    for group in cases.values():
        values: dict[str, list[str]] = defaultdict(list)
        for item in group:
            for name, value in item.callspec.params.items():
                if repr(value) not in values[name]:
                    values[name].append(repr(value))
        longest = max(map(len, values.values()))
        diagonal = [{name: some[i % len(some)] for name, some in values.items()} for i in range(longest)]
        for item in group:
            own = {name: repr(value) for name, value in item.callspec.params.items()}
            item.stash[CHECKED] = own in diagonal and item.get_closest_marker("unchecked") is None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """What every test starts from, before its fixtures and whatever the test before has left: two workers on two cores
    have one thread each, so that they do not fight; torch's luck is that of the test alone; shapes are checked or not;
    and no sweep in this process has left its config, with the folder that paths would start from. A hook: fixtures take
    as long as a small test."""
    import torch

    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)
    torch.default_generator.manual_seed(0)
    shape_checks.update("jaxtyping_disable", not item.stash.get(CHECKED, True))
    HydraConfig.instance().cfg = None
