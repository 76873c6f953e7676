"""Which jobs may be one run although their configs differ, told without the parts and so without torch."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

Leaves = Mapping[tuple[str, ...], Hashable]


def alike(configs: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places of those that differ from another one in nothing but what one of both leaves out, as a width that
    other sizes give, or in how a number is written."""
    leaves = [dict(_leaves(one)) for one in configs]
    by_all = set.intersection(*map(set, leaves)) if leaves else set()
    rest = [{path: value for path, value in one.items() if path not in by_all} for one in leaves]
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, one in enumerate(leaves):
        groups[frozenset((path, one[path]) for path in by_all)].append(place)
    pairs = (pair for group in groups.values() for pair in combinations(group, 2))
    return sorted({place for a, b in pairs if _agree(rest[a], rest[b]) for place in (a, b)})


def _leaves(node: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Hashable]]:
    """What a config says, by where it stands; a null says nothing."""
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*path, key))
        elif value is not None:
            yield (*path, key), _hashable(value)


def _hashable(value: Any) -> Hashable:
    """The value, which equals one of the same number written otherwise."""
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return value if isinstance(value, Hashable) else repr(value)


def _agree(one: Leaves, other: Leaves) -> bool:
    return all(one[path] == other[path] for path in one.keys() & other.keys())
