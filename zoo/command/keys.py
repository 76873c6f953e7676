"""The keys and the groups that a command has, and which of them was meant by a word that is none."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from hydra.errors import HydraException
from omegaconf import OmegaConf

from zoo.command.groups import groups_of
from zoo.command.loader import compose_at_conf
from zoo.errors import UserError
from zoo.families import part_at


def keys_of(command: str) -> tuple[str, ...]:
    """Every key of the default config of `python <command>.py`, dotted."""
    return tuple(_values(command, ()))


def values_chosen(command: str, words: Sequence[str]) -> Mapping[str, object]:
    """The same keys with their values, as they are with the options that `words` choose; a value that must be given is
    '???'."""
    groups = {*groups_of(command)}
    heads = {one: one.partition("=")[0].partition("@")[0] for one in words}
    choosing = tuple(one for one, head in heads.items() if head in groups or head == "hydra.searchpath")
    try:
        return _values(command, choosing)
    except (HydraException, UserError):  # as for a sweep over options, whose jobs have different keys
        return _values(command, ())


@cache
def _values(command: str, choosing: tuple[str, ...]) -> Mapping[str, object]:
    def walk(node: object, prefix: str) -> Iterator[tuple[str, object]]:
        if isinstance(node, dict):
            for key, value in node.items():
                yield from walk(value, f"{prefix}{key}.")
        yield prefix[:-1], node

    found = dict(walk(OmegaConf.to_container(compose_at_conf(command, list(choosing))), ""))
    return {key: value for key, value in found.items() if key and not (key.endswith(".name") and part_at(key))}


def key_named(word: str, command: str, words: Sequence[str] = ()) -> str:
    """' (did you mean budget.steps?)' of `steps`: the keys and groups whose last component is that of the word, at most
    three; else nothing. The keys are those of the options that `words` choose."""
    found = [one for one in _places(command, words) if _last(one) == _last(word) and one != word]
    return f" (did you mean {' or '.join(found[:3])}?)" if found else ""


def key_meant(word: str, command: str, words: Sequence[str] = ()) -> str:
    """' (did you mean seed?)' of `sed`: `key_named`, else the key or group that is spelt most like the word, else
    nothing. Of a word with a dot both the whole and the last component must be like."""
    if named := key_named(word, command, words):
        return named
    whole = "." in word or "/" in word

    def likeness(place: str) -> float:
        last = _likeness(_last(word), _last(place))
        return min(last, _likeness(word, place)) if whole else last

    best = max(_places(command, words), key=lambda place: (likeness(place), _likeness(word, place)))
    return f" (did you mean {best}?)" if likeness(best) >= 0.6 else ""


def command_with(key: str, besides: str) -> str | None:
    """The other command, if that has the key."""
    return next((one for one in ("train", "evaluate") if one != besides and key in keys_of(one)), None)


def _places(command: str, words: Sequence[str]) -> list[str]:
    """Groups, and keys that have no keys inside; those that lie least deep come first."""
    keys = values_chosen(command, words)
    found = {*keys} - {key.rpartition(".")[0] for key in keys} | {*groups_of(command)}
    return sorted(found, key=lambda one: (one.count("."), one))


def _last(word: str) -> str:
    return word.replace("/", ".").rpartition(".")[2]


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()
