"""Which families of parts there are and where each lives. `conf/model/<axis>/` mirrors `zoo/<axis>/`."""

AXES = ("topology", "embedding", "position", "block", "norm", "mixer", "ffn", "head", "init")
"""The axes of a model."""

PER_LAYER = ("position", "block", "norm", "mixer", "ffn")
"""Axes that may follow a pattern over the layers."""

FAMILY_PACKAGES = {axis: f"zoo.{axis}" for axis in AXES} | {
    "objective": "zoo.objective",
    "data": "zoo.data.source",
    "tokenizer": "zoo.data.tokenizer",
    "optimizer": "zoo.training.optimizer",
    "schedule": "zoo.training.schedule",
}
"""The package of each family; the others than the axes have their option files in `conf/<family>/`."""
