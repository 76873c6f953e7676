"""What is remembered about each of many documents, and what a word changes in it: one method for each `Act`.

The oracle (`oracle.py`) has the same in plain Python, for one document, written independently.
"""

import numpy as np
from jaxtyping import Int64

from zoo.data.toy import words
from zoo.data.toy.grammar import Act, Slot
from zoo.data.toy.settings import Settings

RELATIONS = len(words.RELATIONS)
Lanes = Int64[np.ndarray, "L"]


class Memory:
    """A column for each document. Rows: the slots, then names, then stacks, letters and answers.

    One row is read and written as `cells[row][lanes]`, several as `_at(rows, lanes)` in the cells as one line: numpy
    takes two to four times as long for `cells[rows, lanes]`."""

    def __init__(self, settings: Settings, documents: int):
        self.people, self.depth, self.shortest = settings.people, settings.depth + 1, settings.shortest
        self.name = len(Slot)
        self.number = self.name + self.people  # of each open subject, outermost first
        self.at = self.number + self.depth  # where it stands
        self.letter = self.at + self.depth
        self.answer = self.letter + settings.letters + 1
        self.answer_at = self.answer + self.people * RELATIONS
        self.cells = np.zeros((self.answer_at + self.people * RELATIONS, documents), dtype=np.int64)
        self.line = self.cells.reshape(-1)
        self.time = 0
        self._acts = [getattr(self, f"_{act.name.lower()}") for act in Act]

    def read(self, rows: Lanes, lanes: Lanes) -> Lanes:
        """What stands in those rows, each of its document."""
        return self.line.take(self._at(rows, lanes))

    def apply(self, acts: Lanes, arguments: Lanes, said: Lanes, lanes: Lanes) -> None:
        """Change what the words `said` at this time change in the documents `lanes`."""
        order = np.argsort(acts.astype(np.int8), kind="stable")
        arguments, said, lanes = arguments.take(order), said.take(order), lanes.take(order)
        start = 0
        for change, count in zip(self._acts, np.bincount(acts, minlength=len(Act)).tolist(), strict=True):
            stop = start + count
            if count:
                change(lanes[start:stop], arguments[start:stop], said[start:stop])
            start = stop
        self.time += 1

    def _at(self, rows: Lanes, lanes: Lanes) -> Lanes:
        """The places of those cells in `line`."""
        return rows * self.cells.shape[1] + lanes

    def _nothing(self, lanes: Lanes, argument: Lanes, said: Lanes) -> None:
        """Most words change nothing."""

    def _topic(self, lanes: Lanes, argument: Lanes, said: Lanes) -> None:
        self.cells[Slot.TOPIC][lanes] = argument

    def _close(self, lanes: Lanes, argument: Lanes, said: Lanes) -> None:
        self.cells[Slot.LEVEL][lanes] = -2
        opening = self.cells[Slot.OPENING]
        opening[lanes] = opening[lanes] // 2 * 2 + (self.time + 1 >= self.shortest)

    def _push(self, lanes: Lanes, number: Lanes, said: Lanes) -> None:
        depth = self.cells[Slot.LEVEL][lanes] // 2 + 1
        self.cells[Slot.LEVEL][lanes] = 2 * depth + number
        self.line[self._at(self.number + depth, lanes)] = number
        self.line[self._at(self.at + depth, lanes)] = self.time
        self.cells[Slot.HEAD_AT][lanes] = self.time
        outer = lanes[depth == 0]
        self.cells[Slot.SUBJECT][outer] = said[depth == 0]
        self.cells[Slot.SUBJECT_NUMBER][outer] = number[depth == 0]
        self.cells[Slot.SUBJECT_AT][outer] = self.time

    def _pop(self, lanes: Lanes, argument: Lanes, said: Lanes) -> None:
        depth = self.cells[Slot.LEVEL][lanes] // 2 - 1
        self.cells[Slot.LEVEL][lanes] = 2 * depth + self.read(self.number + depth, lanes)
        self.cells[Slot.HEAD_AT][lanes] = self.read(self.at + depth, lanes)

    def _object(self, lanes: Lanes, number: Lanes, said: Lanes) -> None:
        self.cells[Slot.OBJECT][lanes] = said
        self.cells[Slot.OBJECT_NUMBER][lanes] = number
        self.cells[Slot.OBJECT_AT][lanes] = self.time
        self.cells[Slot.PAIR][lanes] = 2 * self.cells[Slot.SUBJECT_NUMBER][lanes] + number

    def _pronoun(self, lanes: Lanes, fitting: Lanes, said: Lanes) -> None:
        self.cells[Slot.FITTING][lanes] = fitting
        self.cells[Slot.MARK][lanes] = self.time

    def _refer(self, lanes: Lanes, which: Lanes, said: Lanes) -> None:
        start = np.where(which == 1, Slot.SUBJECT, Slot.OBJECT)
        for i in range(3):  # the word, its number, its place
            self.cells[Slot.REFERENT + i][lanes] = self.read(start + i, lanes)

    def _mark(self, lanes: Lanes, argument: Lanes, said: Lanes) -> None:
        self.cells[Slot.MARK][lanes] = self.time

    def _meet(self, lanes: Lanes, argument: Lanes, said: Lanes) -> None:
        met = self.cells[Slot.OPENING][lanes] // 2
        self.line[self._at(self.name + met, lanes)] = said
        self.cells[Slot.PERSON][lanes] = met
        self.cells[Slot.OPENING][lanes] += 2
        self._look_up(lanes)

    def _known(self, lanes: Lanes, person: Lanes, said: Lanes) -> None:
        self.cells[Slot.PERSON][lanes] = person
        self._look_up(lanes)

    def _ask(self, lanes: Lanes, relation: Lanes, said: Lanes) -> None:
        self.cells[Slot.QUESTION][lanes] = relation

    def _look_up(self, lanes: Lanes) -> None:
        """What is known about this person in the relation that was asked for."""
        relation = self.cells[Slot.QUESTION][lanes]
        about = self.cells[Slot.PERSON][lanes] * RELATIONS + relation
        answer = self.read(self.answer + about, lanes)
        self.cells[Slot.QUESTION][lanes] = relation + RELATIONS * (answer > 0)
        self.cells[Slot.ANSWER][lanes] = answer
        self.cells[Slot.ANSWER_AT][lanes] = self.read(self.answer_at + about, lanes)

    def _bind(self, lanes: Lanes, relation: Lanes, said: Lanes) -> None:
        about = self.cells[Slot.PERSON][lanes] * RELATIONS + relation
        self.line[self._at(self.answer + about, lanes)] = said
        self.line[self._at(self.answer_at + about, lanes)] = self.time

    def _spell(self, lanes: Lanes, argument: Lanes, said: Lanes) -> None:
        so_far = self.cells[Slot.SPELLED][lanes]
        self.line[self._at(self.letter + so_far, lanes)] = said
        self.cells[Slot.SPELLED][lanes] = so_far + 1
        self.cells[Slot.SPELLED_AT][lanes] = self.time - so_far

    def _rewind(self, lanes: Lanes, argument: Lanes, said: Lanes) -> None:
        self.cells[Slot.COPIED][lanes] = -1
        self._copy(lanes, argument, said)

    def _copy(self, lanes: Lanes, argument: Lanes, said: Lanes) -> None:
        copied = self.cells[Slot.COPIED][lanes] + 1
        left = copied < self.cells[Slot.SPELLED][lanes]
        self.cells[Slot.COPIED][lanes] = copied
        self.cells[Slot.LEFT][lanes] = left
        self.cells[Slot.LETTER][lanes] = self.read(self.letter + copied, lanes)
        self.cells[Slot.LETTER_AT][lanes] = self.cells[Slot.SPELLED_AT][lanes] + copied
        self.cells[Slot.SPELLED][lanes[~left]] = 0

    def _land(self, lanes: Lanes, land: Lanes, said: Lanes) -> None:
        self.cells[Slot.LAND][lanes] = land
        self.cells[Slot.MARK][lanes] = self.time

    def _first(self, lanes: Lanes, number: Lanes, said: Lanes) -> None:
        self.cells[Slot.ADDEND][lanes] = number
        self.cells[Slot.MARK][lanes] = self.time

    def _add(self, lanes: Lanes, number: Lanes, said: Lanes) -> None:
        self.cells[Slot.RESULT][lanes] = self.cells[Slot.ADDEND][lanes] + number

    def _subtract(self, lanes: Lanes, number: Lanes, said: Lanes) -> None:
        self.cells[Slot.RESULT][lanes] = self.cells[Slot.ADDEND][lanes] - number
