"""A fixed world: "in norland lies ashton"; the same in every document, and in none of them explained."""

from zoo.data.toy import words
from zoo.data.toy.grammar import Act, Choice, Row, Situation, Situations, Slot, only, zipf
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill

TURN, STEP = 23, 29
"""City (TURN + STEP · i) mod 64 lies in land i: no rule that a model could see in the names."""


def city_of(land: int) -> str:
    """The city that lies in land number `land`."""
    return words.CITIES[(TURN + STEP * land) % len(words.CITIES)]


def situations(s: Settings) -> Situations:
    """From the land to its city. Some lands are spoken of more than others."""
    lands = tuple(
        Choice(words.LANDS[i], "lies", Skill.LEXICAL, None, Act.LAND, i, share)
        for i, share in enumerate(zipf(s.lands, s.zipf))
    )
    cities = tuple((Choice(city_of(i), "stop", Skill.FACTS, Slot.MARK),) for i in range(s.lands))
    return {
        "in": Situation((lands,)),
        "lies": only("lies", "city"),
        "city": Situation(cities, Slot.LAND),
    }


def openings(s: Settings) -> Row:
    """The word that opens such a sentence."""
    return (Choice("in", "in"),)
