"""Reasons: "the cat sees the boxes because they are heavy, so the boxes fall"."""

from zoo.data.toy import words
from zoo.data.toy.clause import STOP, lexical, verbs
from zoo.data.toy.grammar import Act, Choice, Row, Situation, Situations, Slot, mix, only
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill

CONSEQUENCE = 0.5
BOTH, SUBJECT, OBJECT = range(3)


def situations(s: Settings) -> Situations:
    """From the pronoun to the full stop. Of two nouns of one number the pronoun may stand for either; what is said of
    it then tells which. Of two nouns of different number it stands for the one that it agrees with."""
    pairs = tuple(_pronouns(subject, object) for subject in (0, 1) for object in (0, 1))
    creature, thing = _qualities(s, words.TEMPERS, SUBJECT), _qualities(s, words.MATERIALS, OBJECT)
    agreeing = {"skill": Skill.AGREEMENT, "since": Slot.MARK}
    return {
        "pronoun": Situation(pairs, Slot.PAIR),
        "it": only("is", "quality", **agreeing),
        "they": only("are", "quality", **agreeing),
        "quality": Situation((mix((1, creature), (1, thing)), creature, thing), Slot.FITTING),
        "so": Situation((mix((1 - CONSEQUENCE, [STOP]), (CONSEQUENCE, [Choice(",", "consequence")])),)),
        "consequence": only("so", "the consequence"),
        "the consequence": only("the", "the referent"),
        "the referent": only(Slot.REFERENT, "it happens", skill=Skill.REFERENCE, since=Slot.REFERENT_AT, act=Act.MARK),
        "it happens": Situation(tuple(_happenings(s, number) for number in (0, 1)), Slot.REFERENT_NUMBER),
    }


def _pronouns(subject: int, object: int) -> Row:
    """It or they, for a subject and an object of those numbers."""
    if subject == object:
        return (_pronoun(subject, BOTH, Slot.OBJECT_AT),)
    return mix((1, [_pronoun(subject, SUBJECT, Slot.SUBJECT_AT)]), (1, [_pronoun(object, OBJECT, Slot.OBJECT_AT)]))


def _pronoun(number: int, fitting: int, since: Slot) -> Choice:
    word = "they" if number else "it"
    return Choice(word, word, Skill.REFERENCE, since, Act.PRONOUN, fitting)


def _qualities(s: Settings, listed: list[str], which: int) -> Row:
    since = Slot.SUBJECT_AT if which == SUBJECT else Slot.OBJECT_AT
    return tuple(
        Choice(one.word, "so", Skill.REFERENCE, since, Act.REFER, which, one.share) for one in lexical(s, listed, "so")
    )


def _happenings(s: Settings, number: int) -> Row:
    return verbs(s, words.INTRANSITIVE, number, "stop", skill=Skill.AGREEMENT, since=Slot.MARK)
