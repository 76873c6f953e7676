"""Sequence-model architectures as swappable parts of one registry-built model, compared fairly.

    model = zoo.build("llama", "model/norm=layernorm", "model.d_model=128")
    run = zoo.load("runs/...")                   # run.model, run.tokenizer, run.config
    study = zoo.study.load("runs/studies/...")   # tables of its runs, metrics and scores; without torch

Importing this package imports nothing heavy; torch comes with the first use.
"""

from typing import Any

_HOME = {
    "build": "zoo.api",
    "complete": "zoo.inference.complete",
    "export": "zoo.published.writing",
    "fill": "zoo.inference.fill",
    "generate": "zoo.inference.generate",
    "load": "zoo.api",
    "UserError": "zoo.errors",
}
__all__ = ["UserError", "build", "complete", "export", "fill", "generate", "load"]


def __getattr__(name: str) -> Any:
    if name == "study":
        import importlib

        return importlib.import_module("zoo.study")
    if name not in _HOME:
        raise AttributeError(f"module 'zoo' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_HOME[name]), name)
