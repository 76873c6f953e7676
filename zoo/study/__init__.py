"""Studies: many runs that answer one question, and what they say. None of it imports torch when it is imported.

study = zoo.study.load("runs/studies/ladder")       # study.runs, study.metrics, study.scores: lists of dicts
"""

from typing import Any

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'zoo.study' has no attribute '{name}'")
    from zoo.study import tables

    return getattr(tables, name)
