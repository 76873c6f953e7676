"""What is done to people: "colour amy red. serve ben soup. colour amy red"; what was said once is always so."""

from fractions import Fraction

from zoo.data.toy import words
from zoo.data.toy.grammar import Act, Choice, Row, Situation, Situations, Slot, mix
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill

RELATIONS = list(words.RELATIONS)
KNOWN = 0.75
"""The chance that a sentence is about somebody who was met before, once there is somebody."""


def situations(s: Settings) -> Situations:
    """From the name to the value: free the first time, then what it was when it was said last."""
    names = tuple(_names(s, met) for met in range(s.people + 1) for _ in (False, True))
    free = tuple(
        tuple(Choice(value, "stop", Skill.LEXICAL, None, Act.BIND, i) for value in values)
        for i, values in enumerate(words.RELATIONS.values())
    )
    known = tuple(
        (Choice(Slot.ANSWER, "stop", Skill.RECALL, Slot.ANSWER_AT, Act.BIND, i),) for i in range(len(RELATIONS))
    )
    return {"person": Situation(names, Slot.OPENING), "question": Situation((*free, *known), Slot.QUESTION)}


def openings(s: Settings) -> Row:
    """The verbs that open such a sentence."""
    return tuple(
        Choice(verb, "person", Skill.LEXICAL, None, Act.ASK, i) for i, verb in enumerate(RELATIONS[: s.relations])
    )


def _names(s: Settings, met: int) -> Row:
    """One of the `met` people, each as likely as the others, or somebody new."""
    names = words.NAMES[words.NAMES_EACH * met : words.NAMES_EACH * (met + 1)]
    new = [Choice(name, "question", Skill.LEXICAL, None, Act.MEET) for name in names]
    known = [Choice(-1 - person, "question", Skill.LEXICAL, None, Act.KNOWN, person) for person in range(met)]
    share = Fraction(0) if not met else Fraction(1) if met == s.people else Fraction(str(KNOWN))
    return mix((share, known), (1 - share, new))
