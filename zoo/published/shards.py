"""Tensors in one safetensors file, or in several with an index that says which file has which."""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import safetensors.torch
from torch import Tensor

from zoo.errors import UserError
from zoo.training.files import json_text, read_json

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"


def write_tensors(folder: Path, tensors: Mapping[str, Tensor], shard_bytes: int) -> list[str]:
    """Write them, in order of their names, into files of at most that many bytes of numbers each; a larger tensor has
    one for itself. Returns the names of the files."""
    shards = list(_shards(tensors, shard_bytes))
    if len(shards) == 1:
        _save(folder / WHOLE, shards[0])
        return [WHOLE]
    weight_map = {}
    for i, shard in enumerate(shards, start=1):
        file = f"model-{i:05d}-of-{len(shards):05d}.safetensors"
        _save(folder / file, shard)
        weight_map.update(dict.fromkeys(shard, file))
    total = sum(one.nbytes for one in tensors.values())
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (folder / INDEX).write_text(json_text(index, indent=1) + "\n", encoding="utf-8")
    return sorted(set(weight_map.values()))


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """All tensors of a folder. Raises UserError that names the file which is missing or damaged, and for an index that
    does not say what its files hold."""
    index = folder / INDEX
    if not index.exists():
        return _load(folder / WHOLE)
    weight_map = read_json(index).get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(file, str) for file in weight_map.values()):
        raise UserError(f"{index} is damaged: weight_map must be a mapping of names to files")
    found: dict[str, Tensor] = {}
    for file in sorted(set(weight_map.values())):
        if Path(file).name != file:
            raise UserError(f"{index} is refused: {file} is no file beside it")
        held = _load(folder / file)
        named = {name for name, where in weight_map.items() if where == file}
        for what, names in (("lacks", named - held.keys()), ("has, unnamed,", held.keys() - named)):
            if names:
                raise UserError(f"{folder / file} {what} {', '.join(sorted(names))}, against {INDEX}")
        found.update(held)
    return found


def _shards(tensors: Mapping[str, Tensor], most: int) -> Iterator[dict[str, Tensor]]:
    shard: dict[str, Tensor] = {}
    size = 0
    for name in sorted(tensors):
        if shard and size + tensors[name].nbytes > most:
            yield shard
            shard, size = {}, 0
        shard[name] = tensors[name].contiguous()
        size += tensors[name].nbytes
    yield shard


def _save(path: Path, tensors: dict[str, Tensor]) -> None:
    safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})


def _load(path: Path) -> dict[str, Tensor]:
    if not path.exists():
        raise UserError(f"{path} is missing")
    try:
        return safetensors.torch.load_file(path)
    except (OSError, ValueError, KeyError, struct.error, safetensors.SafetensorError) as error:
        raise UserError(f"{path} is no safetensors file, or a damaged one: {str(error).splitlines()[0]}") from error
