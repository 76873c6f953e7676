"""What people like: "amy likes red. ben eats soup. amy likes red"; what was said once is always so."""

from fractions import Fraction

from zoo.toy import words
from zoo.toy.grammar import Act, Choice, Row, Situation, Situations, Slot, mix
from zoo.toy.settings import Settings
from zoo.toy.skills import Skill

RELATIONS = list(words.RELATIONS)
KNOWN = 0.75
"""The chance that a sentence is about somebody who was met before, once there is somebody."""


def situations(s: Settings) -> Situations:
    """From the relation to its value: free the first time, then what it was when it was said last."""
    relations = tuple(
        Choice(verb, "question", Skill.LEXICAL, None, Act.ASK, i) for i, verb in enumerate(RELATIONS[: s.relations])
    )
    free = tuple(
        tuple(Choice(value, "stop", Skill.LEXICAL, None, Act.BIND, i) for value in values)
        for i, values in enumerate(words.RELATIONS.values())
    )
    known = tuple(
        (Choice(Slot.ANSWER, "stop", Skill.RECALL, Slot.ANSWER_AT, Act.BIND, i),) for i in range(len(RELATIONS))
    )
    rows = (*free, *known)
    return {"person": Situation((relations,)), "question": Situation(rows, Slot.QUESTION)}


def openings(s: Settings, met: int) -> Row:
    """One of the `met` people, each as likely as the others, or somebody new."""
    names = words.NAMES[words.NAMES_EACH * met : words.NAMES_EACH * (met + 1)]
    new = [Choice(name, "person", Skill.LEXICAL, None, Act.MEET) for name in names]
    known = [Choice(-1 - person, "person", Skill.LEXICAL, None, Act.KNOWN, person) for person in range(met)]
    share = Fraction(0) if not met else Fraction(1) if met == s.people else Fraction(str(KNOWN))
    return mix((share, known), (1 - share, new))
