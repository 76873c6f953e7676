"""Many documents at once, word by word, in lockstep."""

from collections import deque
from collections.abc import Iterator

import numpy as np
from jaxtyping import UInt32, UInt64

from zoo.data.generated import Documents
from zoo.data.permutation import mix
from zoo.data.toy.ahead import Ahead
from zoo.data.toy.document import situations
from zoo.data.toy.grammar import Slot
from zoo.data.toy.memory import Memory
from zoo.data.toy.settings import Settings
from zoo.data.toy.tables import Tables, tables

VERSION = 3
"""Goes up with every change of the language: another version is another corpus."""
AT_ONCE = 1 << 21
"""About how many words are made at a time; which ones does not depend on it."""
GOLDEN = 0x9E3779B97F4A7C15


class Generator:
    """Document number n of a split is a function of (VERSION, settings, seed, split, n) and nothing else."""

    def __init__(self, settings: Settings, seed: int):
        self.settings, self.seed = settings, seed
        self.situations = situations(settings)
        self.tables: Tables = tables(self.situations)
        self._ahead = Ahead(self.documents, settings.shortest + 6 * settings.sentences)

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
        count = max(8, min(size, AT_ONCE) // typical)
        return self._ahead.get(split, start, count, min(size, AT_ONCE // 2))

    def documents(self, split: int, start: int, count: int) -> Documents:
        """Documents `start` to `start` + `count` − 1."""
        keys = self._keys(split, np.arange(start, start + count, dtype=np.int64))
        walk, lengths = self._walk(keys)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        words, distance = (np.empty(offsets[-1], dtype=np.int64) for _ in range(2))
        floor, skill = np.empty(offsets[-1], dtype=np.float32), np.empty(offsets[-1], dtype=np.uint8)
        nats, skills, alive = self.tables.nats.astype(np.float32), self.tables.skills.astype(np.uint8), np.arange(count)
        for time in range(len(walk)):
            choice, said, since = walk.popleft()  # from here on its memory is free
            alive = alive[lengths[alive] > time]
            place = offsets[alive] + time
            words[place], distance[place] = said, since
            floor[place], skill[place] = nats[choice], skills[choice]
        return Documents(words, floor, skill, distance, offsets)

    def draws(self, split: int, start: int, documents: Documents) -> UInt32[np.ndarray, "N"]:
        """One more random number for each word of the documents from number `start` on, for views of them."""
        lengths = np.diff(documents.offsets)
        keys = mix(~self._keys(split, np.arange(start, start + len(lengths), dtype=np.int64)))
        place = np.arange(len(documents.words)) - np.repeat(documents.offsets[:-1], lengths)
        return (mix(np.repeat(keys, lengths) + place.astype(np.uint64)) >> np.uint64(32)).astype(np.uint32)

    def _walk(self, keys: np.ndarray) -> tuple[deque[tuple[np.ndarray, ...]], np.ndarray]:
        """For each time the choices, words and distances of the documents that are not over yet, in their order; and
        how many words each document has."""
        t, memory = self.tables, Memory(self.settings, len(keys))
        memory.cells[Slot.LEVEL] = -2
        alive, situation = np.arange(len(keys)), np.full(len(keys), t.first)
        walk: deque[tuple[np.ndarray, ...]] = deque()
        lengths = np.zeros(len(keys), dtype=np.int64)
        while len(alive):
            row = t.first_row.take(situation) + memory.read(t.by.take(situation), alive)
            number = mix(keys + np.uint64(memory.time * GOLDEN % (1 << 64))) >> np.uint64(32)
            choice = t.choose(row, number.astype(np.int64))
            said, since = t.words.take(choice), t.since.take(choice)
            slots, known = (said < 0).nonzero()[0], (since >= 0).nonzero()[0]
            said[slots] = memory.read(-1 - said[slots], alive[slots])
            distance = np.zeros(len(alive), dtype=np.int32)
            distance[known] = memory.time - memory.read(since[known], alive[known])
            walk.append((choice.astype(np.int32), said.astype(np.int32), distance))  # half the memory
            memory.apply(t.acts.take(choice), t.arguments.take(choice), said, alive)
            situation = t.goto.take(choice)
            going = situation != t.last
            lengths[alive] += 1
            if not going.all():
                alive, situation, keys = alive[going], situation[going], keys[going]
        return walk, lengths

    def _keys(self, split: int, numbers: np.ndarray) -> UInt64[np.ndarray, "D"]:
        """The start of each document's own stream of random numbers (splitmix64)."""
        key = np.zeros(len(numbers), dtype=np.uint64)
        for part in (VERSION, self.seed, split):
            key = mix(key ^ np.uint64(part % (1 << 64)))
        return mix(key ^ mix(numbers.astype(np.uint64)))
