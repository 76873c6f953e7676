"""Cores that other work keeps busy, where the threads of one run wait for each other."""

import os

BUSY = 2.0
"""Processes per core that want to run, as a mean of the last minute. Own work of just before leaves one at most."""


def advice(device: str, threads: int) -> str:
    """What to do where several threads of a CPU meet busy cores; nothing elsewhere, or where no load is known."""
    cores = os.cpu_count() or 1
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):
        return ""
    if device != "cpu" or threads == 1 or load < BUSY * cores:
        return ""
    return (
        f"other work keeps the cores busy (load {load:.1f} on {cores}): threads then wait for each other, and"
        " runtime.threads=1 from the start can be several times as fast"
    )
