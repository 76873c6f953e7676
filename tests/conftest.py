"""What all tests share."""

import gc
import os
from collections import defaultdict
from collections.abc import Generator, Iterator

import pytest
from hydra.core.hydra_config import HydraConfig
from jaxtyping import config as shape_checks

os.environ["HF_HUB_OFFLINE"] = "1"  # no test reaches a network

CHECKED = pytest.StashKey[bool]()


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Two workers on two cores: one thread each, so that they do not fight, whatever the test before has set."""
    import torch

    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _no_command() -> None:
    """A sweep that ran in this process leaves its config behind, and with it the folder from which the relative paths
    of the next test would start."""
    HydraConfig.instance().cfg = None


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
    every test that stands alone; of a law that loops over several axes, those on a diagonal through its cases, so that
    each option of each axis is in one of them."""
    cases = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            cases[item.nodeid.partition("[")[0]].append(item)
        else:
            item.stash[CHECKED] = True
    for group in cases.values():
        values: dict[str, list[str]] = defaultdict(list)
        for item in group:
            for name, value in item.callspec.params.items():
                if repr(value) not in values[name]:
                    values[name].append(repr(value))
        longest = max(map(len, values.values()))
        diagonal = [{name: some[i % len(some)] for name, some in values.items()} for i in range(longest)]
        for item in group:
            item.stash[CHECKED] = {name: repr(value) for name, value in item.callspec.params.items()} in diagonal


@pytest.fixture(autouse=True)
def _shapes(request: pytest.FixtureRequest) -> Iterator[None]:
    shape_checks.update("jaxtyping_disable", not request.node.stash.get(CHECKED, True))
    yield
    shape_checks.update("jaxtyping_disable", False)
