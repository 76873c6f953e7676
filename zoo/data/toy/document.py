"""Documents: "about farms." and then sentences of every kind, until one is the last."""

from fractions import Fraction

from zoo.data.toy import arithmetic, clause, copying, facts, people, reference, words
from zoo.data.toy.grammar import Act, Choice, Row, Situation, Situations, Slot, mix, only
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill

FIRST, LAST = "title", "end"
"""The situations before the first word and after the last."""


def situations(s: Settings) -> Situations:
    """The whole language, by the names of its situations."""
    topics = tuple(Choice(word, "titled", Skill.LEXICAL, None, Act.TOPIC, i) for i, word in enumerate(words.TOPICS))
    rows = (_opening(s, may_end) for _ in range(s.people + 1) for may_end in (False, True))
    made = {
        FIRST: only("about", "topic"),
        "topic": Situation((topics,)),
        "titled": only(".", "opening"),
        "opening": Situation(tuple(rows), Slot.OPENING),
    }
    for kind in (clause, reference, people, copying, facts, arithmetic):
        made.update(kind.situations(s))
    return made


def _opening(s: Settings, may_end: bool) -> Row:
    """How a sentence may begin, or the document end."""
    end = Fraction(1) / Fraction(str(s.sentences)) if may_end else Fraction(0)
    shares = [Fraction(str(one)) for one in (s.recall, s.copying, s.facts, s.arithmetic)]
    kinds = mix(
        (1 - sum(shares, Fraction(0)), [Choice("the", "the subject")]),
        (shares[0], people.openings(s)),
        (shares[1], copying.openings(s)),
        (shares[2], facts.openings(s)),
        (shares[3], arithmetic.openings(s)),
    )
    return mix((end, [Choice("", LAST)]), (1 - end, kinds))
