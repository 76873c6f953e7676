"""Plain sentences: "the dogs that the cat sees near the old tree follow the boat quietly"."""

from fractions import Fraction

from zoo.data.toy import words
from zoo.data.toy.grammar import Act, Choice, Row, Situation, Situations, Slot, mix, only, zipf
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill

ADJECTIVES, ADVERBS, INTRANSITIVE = 0.2, 0.25, 0.3


def situations(s: Settings) -> Situations:
    """From the subject to the full stop, or to a reason (see `reference.py`)."""
    made = {
        "the subject": _noun_phrase(s, words.CREATURES, "the subject is", Act.PUSH),
        "the bare subject": _bare(s, words.CREATURES, "the subject is", Act.PUSH),
        "the subject is": Situation(tuple(_after_subject(s, d, n) for d in _depths(s) for n in (0, 1)), Slot.LEVEL),
        "relative": only("the", "the subject"),
        "owed": Situation(tuple(_owed(s, depth, number) for depth in _depths(s) for number in (0, 1)), Slot.LEVEL),
        "object": only("the", "the object"),
        "the object": _noun_phrase(s, words.THINGS, "the object is", Act.OBJECT),
        "the bare object": _bare(s, words.THINGS, "the object is", Act.OBJECT),
        "the object is": Situation((mix((1 - s.reference, [STOP]), (s.reference, [Choice("because", "pronoun")])),)),
        "manner": Situation((mix((1 - ADVERBS, [STOP]), (ADVERBS, lexical(s, words.ADVERBS, "stop"))),)),
        "stop": Situation(((STOP,),)),
    }
    for k in range(1, s.most_distractors + 1):
        made[f"place {k}"] = only("the", f"the place {k}")
        made[f"the place {k}"] = _bare(s, words.THINGS, f"the place {k} is", Act.NOTHING)
        more = s.distractors if k < s.most_distractors else 0.0
        rows = (mix((more, _prepositions(s, k + 1)), (1 - more, _verbs(s, 1, n, Skill.AGREEMENT))) for n in (0, 1))
        made[f"the place {k} is"] = Situation(tuple(rows), Slot.LEVEL)
    return made


STOP = Choice(".", "opening", act=Act.CLOSE)


def lexical(s: Settings, listed: list[str], goto: str, **more: object) -> Row:
    """The first words of a list, by Zipf's law."""
    chosen = listed[: s.lexicon]
    shares = zipf(len(chosen), s.zipf)
    return tuple(
        Choice(word, goto, Skill.LEXICAL, share=share, **more)  # type: ignore[arg-type]
        for word, share in zip(chosen, shares, strict=True)
    )


def verbs(s: Settings, listed: list[str], number: int, goto: str, **more: object) -> Row:
    """Verbs in the form for one subject (0) or several (1)."""
    forms = [word if number else words.singular(word) for word in listed[: s.lexicon]]
    return tuple(
        Choice(form, goto, share=share, **more)  # type: ignore[arg-type]
        for form, share in zip(forms, zipf(len(forms), s.zipf), strict=True)
    )


def noun_shares(s: Settings, nouns: list[str], topic: int) -> dict[str, Fraction]:
    """How frequent each noun of a list is in documents with that topic."""
    chosen = nouns[: s.lexicon]
    shares = zipf(len(chosen), s.zipf)
    turn = topic * len(chosen) // len(words.TOPICS)
    own = chosen[turn:] + chosen[:turn]
    tilt = Fraction(str(s.topics))
    share_of = {noun: share * (1 - tilt) for noun, share in zip(chosen, shares, strict=True)}
    for noun, share in zip(own, shares, strict=True):
        share_of[noun] += share * tilt
    return share_of


def _depths(s: Settings) -> range:
    return range(1, s.depth + 2)


def _after_subject(s: Settings, depth: int, number: int) -> Row:
    """After "the dog": a relative clause, a place (only at the outermost subject), or its verb."""
    nesting = s.nesting if depth <= s.depth else 0.0
    distractors = s.distractors if depth == 1 else 0.0
    skill = Skill.AGREEMENT if depth == 1 else Skill.NESTING
    return mix(
        (nesting, [Choice("that", "relative")]),
        (distractors, _prepositions(s, 1)),
        (1 - nesting - distractors, _verbs(s, depth, number, skill)),
    )


def _owed(s: Settings, depth: int, number: int) -> Row:
    """After an inner verb: the verb of the subject around it must come."""
    return _verbs(s, depth, number, Skill.NESTING)


def _verbs(s: Settings, depth: int, number: int, skill: Skill) -> Row:
    if depth > 1:  # "that the cat sees": the object is the noun before "that"
        return verbs(s, words.TRANSITIVE, number, "owed", act=Act.POP, skill=skill, since=Slot.HEAD_AT)
    return mix(
        (1 - INTRANSITIVE, verbs(s, words.TRANSITIVE, number, "object", skill=skill, since=Slot.HEAD_AT)),
        (INTRANSITIVE, verbs(s, words.INTRANSITIVE, number, "manner", skill=skill, since=Slot.HEAD_AT)),
    )


def _prepositions(s: Settings, k: int) -> Row:
    return lexical(s, words.PREPOSITIONS, f"place {k}")


def _noun_phrase(s: Settings, nouns: list[str], goto: str, act: Act) -> Situation:
    """An adjective and a noun, or a noun."""
    bare = {"the subject is": "the bare subject", "the object is": "the bare object"}[goto]
    rows = _bare(s, nouns, goto, act).rows
    adjectives = lexical(s, words.SIZES, bare)
    return Situation(tuple(mix((ADJECTIVES, adjectives), (1 - ADJECTIVES, row)) for row in rows), Slot.TOPIC)


def _bare(s: Settings, nouns: list[str], goto: str, act: Act) -> Situation:
    """A noun, singular or plural; which are frequent depends on the topic."""
    rows = []
    for topic in range(len(words.TOPICS)):
        shares = noun_shares(s, nouns, topic)
        pair = (
            (number, [Choice(form(noun), goto, Skill.LEXICAL, None, act, n, share) for noun, share in shares.items()])
            for n, number, form in ((0, 1 - s.plurals, str), (1, s.plurals, words.plural))
        )
        rows.append(mix(*pair))
    return Situation(tuple(rows), Slot.TOPIC)
