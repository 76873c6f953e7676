"""What can be set about the language. Each skill has a rate that switches it off and something that makes it harder."""

from dataclasses import dataclass
from fractions import Fraction

from zoo.data.toy import words
from zoo.errors import UserError

MOST_DEPTH, MOST_DISTRACTORS, MOST_LETTERS = 4, 3, 16
LONGEST = 1 << 17


@dataclass(kw_only=True)
class Settings:
    """Keyword-only, since they are what YAML may set; conf/data/toy.yaml says what each one does."""

    sentences: float = 16.0
    shortest: int = 40
    lexicon: int = 24
    zipf: float = 1.0
    topics: float = 0.5
    plurals: float = 0.4
    distractors: float = 0.3
    most_distractors: int = 2
    nesting: float = 0.2
    depth: int = 4
    reference: float = 0.4
    recall: float = 0.6
    people: int = 6
    relations: int = 1
    copying: float = 0.06
    letters: int = 6
    facts: float = 0.06
    lands: int = 32
    arithmetic: float = 0.06
    largest: int = 20

    def check(self) -> None:
        """Raises UserError for the first value that makes no language."""
        for key in ("topics", "plurals", "distractors", "nesting", "reference"):
            self._range(key, 0, 1, "it is a probability")
        for key in ("distractors", "nesting"):
            if getattr(self, key) > 0.9:
                raise UserError(f"data.{key}={getattr(self, key)} leaves no room for verbs; set it to at most 0.9")
        if exact(self.distractors) + exact(self.nesting) > exact(0.95):
            raise UserError(
                f"data.distractors={self.distractors} and data.nesting={self.nesting} leave no room for verbs;"
                " their sum must be at most 0.95"
            )
        kinds = ("recall", "copying", "facts", "arithmetic")
        for key in kinds:
            self._range(key, 0, 1, "it is a share of the sentences")
        if sum(exact(getattr(self, key)) for key in kinds) > 1:
            shares = ", ".join(f"data.{key}={getattr(self, key)}" for key in kinds)
            raise UserError(f"{shares}: these shares of the sentences must sum to at most 1")
        self._range("sentences", 1, LONGEST // 8, "a sentence is the last with a chance of one in so many")
        self._range("shortest", 0, LONGEST, "no document ends before that many words")
        self._range("lexicon", 1, len(words.CREATURES), "it is how many words a list has")
        self._range("zipf", 0, 4, "it is the exponent of the word frequencies")
        self._range("most_distractors", 1, MOST_DISTRACTORS, "so many may stand between subject and verb")
        self._range("depth", 1, MOST_DEPTH, "clauses nest that deep; data.nesting=0 switches them off")
        self._range("people", 1, words.MOST_NAMES, "a document has at most that many; data.recall=0 switches them off")
        self._range("relations", 1, len(words.RELATIONS), "so many things are said of a person")
        self._range("letters", 1, MOST_LETTERS, "it is the longest string; data.copying=0 switches it off")
        self._range("lands", 1, len(words.LANDS), "so many facts are to be known; data.facts=0 switches them off")
        self._range("largest", 0, words.LARGEST, "it is the largest number added; data.arithmetic=0 switches it off")

    def _range(self, key: str, low: int, high: int, why: str) -> None:
        value = getattr(self, key)
        if not low <= value <= high:
            raise UserError(f"data.{key}={value} must be between {low} and {high}: {why}")


def exact(value: float) -> Fraction:
    """The number as it is written: 0.9 + 0.05 is 0.95, as floats it is more."""
    return Fraction(str(value))
