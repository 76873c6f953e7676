"""Many documents at once, word by word, in lockstep."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import UInt32, UInt64

from zoo.data.generated import Documents
from zoo.data.permutation import mix
from zoo.toy.grammar import Slot
from zoo.toy.memory import Memory
from zoo.toy.settings import Settings
from zoo.toy.tables import Tables, tables

VERSION = 3
"""Goes up with every change of the language: another version is another corpus."""
AT_ONCE = 1 << 21
"""About how many words are made at a time; which ones does not depend on it."""
GOLDEN = 0x9E3779B97F4A7C15


class Generator:
    """Document number n of a split is a function of (VERSION, settings, seed, split, n) and nothing else."""

    def __init__(self, settings: Settings, seed: int):
        self.settings, self.seed = settings, seed
        self.tables: Tables = tables(settings)

    def stream(self, split: int, size: int, at_once: int | None = None) -> Iterator[Documents]:
        """The first documents of a split that have at least `size` words and end marks together."""
        start, left = 0, size
        while left > 0:
            made = self.some(split, start, min(at_once or AT_ONCE, left))
            count = len(made.offsets) - 1
            enough = int(np.searchsorted(made.offsets, left))
            yield made.part(0, min(enough, count))
            start, left = start + count, left - int(made.offsets[-1])

    def some(self, split: int, start: int, size: int) -> Documents:
        """Documents from number `start` on that have about `size` words, `AT_ONCE` at most."""
        typical = self.settings.shortest + 10 * int(self.settings.sentences)
        return self.documents(split, start, max(8, min(size, AT_ONCE) // typical))

    def documents(self, split: int, start: int, count: int) -> Documents:
        """Documents `start` to `start` + `count` − 1."""
        keys = self._keys(split, np.arange(start, start + count, dtype=np.int64))
        choices, said, since, who = self._walk(keys)
        lengths = np.bincount(np.concatenate(who), minlength=count)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        place = np.concatenate([offsets[lanes] + time for time, lanes in enumerate(who)])
        chosen = np.empty(len(place), dtype=np.int32)
        words, distance = (np.empty(len(place), dtype=np.int64) for _ in range(2))
        chosen[place], words[place] = np.concatenate(choices), np.concatenate(said)
        distance[place] = np.concatenate(since)
        floor = self.tables.nats.astype(np.float32)[chosen]
        return Documents(words, floor, self.tables.skills.astype(np.uint8)[chosen], distance, offsets)

    def draws(self, split: int, start: int, documents: Documents) -> UInt32[np.ndarray, "N"]:
        """One more random number for each word of the documents from number `start` on, for views of them."""
        lengths = np.diff(documents.offsets)
        keys = mix(~self._keys(split, np.arange(start, start + len(lengths), dtype=np.int64)))
        place = np.arange(len(documents.words)) - np.repeat(documents.offsets[:-1], lengths)
        return (mix(np.repeat(keys, lengths) + place.astype(np.uint64)) >> np.uint64(32)).astype(np.uint32)

    def _walk(self, keys: np.ndarray) -> tuple[list[np.ndarray], ...]:
        """For each time: the choices, words, distances, and the documents that they belong to."""
        t, memory = self.tables, Memory(self.settings, len(keys))
        memory.cells[Slot.LEVEL] = -2
        who, situation = np.arange(len(keys)), np.full(len(keys), t.first)
        lanes = np.arange(len(keys))
        log: tuple[list[np.ndarray], ...] = ([], [], [], [])
        while len(who):
            row = t.first_row[situation] + memory.cells[t.by[situation], lanes]
            number = mix(keys + np.uint64(memory.time * GOLDEN % (1 << 64))) >> np.uint64(32)
            choice = t.choose(row, number.astype(np.int64))
            said = t.words[choice]
            slots = np.flatnonzero(said < 0)
            said[slots] = memory.cells[-1 - said[slots], slots]
            since = t.since[choice]
            distance = np.where(since < 0, 0, memory.time - memory.cells[since, lanes])
            for listed, values in zip(log, (choice, said, distance, who), strict=True):
                listed.append(values.astype(np.int32))  # half the memory
            memory.apply(t.acts[choice], t.arguments[choice], said)
            situation = t.goto[choice]
            alive = situation != t.last
            if not alive.all():
                left = np.flatnonzero(alive)
                who, situation, keys, lanes = who[left], situation[left], keys[left], lanes[: len(left)]
                memory.keep(left)
        return log

    def _keys(self, split: int, numbers: np.ndarray) -> UInt64[np.ndarray, "D"]:
        """The start of each document's own stream of random numbers (splitmix64)."""
        key = np.zeros(len(numbers), dtype=np.uint64)
        for part in (VERSION, self.seed, split):
            key = mix(key ^ np.uint64(part % (1 << 64)))
        return mix(key ^ mix(numbers.astype(np.uint64)))
