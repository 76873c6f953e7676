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

GROUPS = {f"model/{family}" if family in AXES else family for family in FAMILY_PACKAGES}
"""Folders of option files: only these may set a value inside a part."""

PARTS = {f"model.{axis}" for axis in AXES} | (FAMILY_PACKAGES.keys() - set(AXES)) | {"model.cross"}
"""Where the chosen parts stand in a composed config."""


def part_at(key: str) -> str | None:
    """The part that a key of a composed config is in, or is; None outside of parts."""
    return next((part for part in PARTS if key == part or key.startswith(f"{part}.")), None)


def group_of(part: str) -> str:
    """The folder that a part is chosen from; a cross-mixer is a mixer."""
    return "model/mixer" if part == "model.cross" else part.replace(".", "/")


def choosing(key: str) -> str:
    """The override, up to its `=`, that chooses what stands at that key: a part, or an entry inside one."""
    part = part_at(key)
    if part is None:
        return key
    group = group_of(part)
    return group if key.replace(".", "/") == group else f"{group}@{key}"
