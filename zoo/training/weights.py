"""Weights under the bare model's own names, tied tensors once, loaded strictly unless asked otherwise."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from zoo.bare import bare
from zoo.errors import UserError
from zoo.mismatch import Mismatch

Ties = dict[str, str]
"""Alias → canonical name: the first name a tied tensor has in the model."""


def weights_of(model: nn.Module) -> tuple[dict[str, Tensor], Ties]:
    """Parameters and saved buffers, on the CPU, each once under its canonical name; and the other names."""
    canonical: dict[int, str] = {}
    tensors: dict[str, Tensor] = {}
    ties: Ties = {}
    for name, tensor in bare(model).state_dict(keep_vars=True).items():
        first = canonical.setdefault(id(tensor), name)
        if first == name:
            tensors[name] = tensor.detach().cpu().contiguous()
        else:
            ties[name] = first
    return tensors, ties


def load_weights(
    model: nn.Module, tensors: Mapping[str, Tensor], ties: Mapping[str, str], source: str, *, strict: bool = True
) -> Mismatch:
    """Copy every tensor into the model. `ties` are those of the file. Raises UserError with all missing, unknown and
    misshapen names and those of another kind of number or not finite, and changes nothing then. Where it is not
    `strict`, missing and unknown ones are returned instead. A tied weight may come under any of its names, but not with
    two values."""
    found = {**tensors, **{alias: tensors[name] for alias, name in ties.items() if name in tensors}}
    own, own_ties = weights_of(model)
    for alias, name in own_ties.items():
        value = found.pop(alias, None)
        if value is not None and not torch.equal(found.setdefault(name, value), value):
            raise UserError(f"{source} has different tensors for {name} and {alias}, which are tied in this model")
    missing, unknown = [name for name in own if name not in found], [name for name in found if name not in own]
    problems = [
        ("missing", missing if strict else []),
        ("unknown", unknown if strict else []),
        ("of another shape", [_shapes(name, found[name], own[name]) for name in own if _differ(name, found, own)]),
        ("of another kind", [f"{name} ({found[name].dtype})" for name in own if _alien(name, found, own)]),
        ("not finite", [name for name in own if name in found and not finite(found[name], own[name])]),
    ]
    if any(names for _, names in problems):
        lists = "; ".join(f"{what}: {', '.join(names)}" for what, names in problems if names)
        raise UserError(f"{source} does not fit this model. {lists}")
    with torch.no_grad():
        target = bare(model).state_dict(keep_vars=True)
        for name in own.keys() & found.keys():
            target[name].copy_(found[name])
    return Mismatch(tuple(missing), tuple(unknown))


def _differ(name: str, found: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> bool:
    return name in found and found[name].shape != own[name].shape


def _alien(name: str, found: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> bool:
    return name in found and not same_kind(found[name], own[name])


def same_kind(found: Tensor, own: Tensor) -> bool:
    """Whether both hold real numbers, in whatever precision; or else have the same dtype."""
    real = found.is_floating_point() and own.is_floating_point()
    return real or found.dtype == own.dtype


def finite(found: Tensor, own: Tensor) -> bool:
    """Whether all numbers are finite in the model's own precision; those of another kind are not looked at."""
    return not same_kind(found, own) or bool(found.to(own.dtype).isfinite().all())


def _shapes(name: str, found: Tensor, own: Tensor) -> str:
    return f"{name} {list(found.shape)} for {list(own.shape)}"
