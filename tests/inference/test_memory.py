"""Bytes of tensors that live at once, against a count by hand."""

import torch

from zoo.inference.memory import PeakTensors


def test_the_peak_is_what_lived_at_once_each_storage_once() -> None:
    outside = torch.ones(1000)
    with PeakTensors() as peak:
        first = outside + 1  # 4,000 bytes
        second = first.view(10, 100) + 1  # 4,000 more
        del first
        third = second.t()[:5].clone()  # 200
        outside.add_(1)
        assert third.numel() == 50
        del second
        torch.zeros(1500)  # 6,000
    assert peak.bytes == 8000
