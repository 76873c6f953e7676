"""Named random streams: every draw of the project comes from a stream with a key, never from a global one."""

import hashlib

import torch


def derived_seed(*key: int | str) -> int:
    """A seed of 63 bits for that key; the seeds of different keys have nothing to do with each other."""
    return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:8], "big") >> 1


def generator_for(*key: int | str) -> torch.Generator:
    """The stream of that key, on the CPU, from its start."""
    return torch.Generator().manual_seed(derived_seed(*key))


def seed_torch(seed: int, device: torch.device) -> None:
    """Put torch's own stream of that device at the start of that seed. `torch.manual_seed` does so for all kinds of
    device, and for those that are not there writes down a stack trace each time, which takes half a millisecond."""
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
