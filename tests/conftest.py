"""What all tests share."""

import os

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"  # no test reaches a network


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """Two workers on two cores: one thread each, so that they do not fight."""
    import torch

    torch.set_num_threads(1)
