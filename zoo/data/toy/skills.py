"""What a word needs: the skills by which scores are told apart."""

from enum import IntEnum


class Skill(IntEnum):
    """The number is what is stored with each token."""

    GRAMMAR = 0
    """Which function word may come here, and how likely it is: knowing the sentence so far is enough."""
    LEXICAL = 1
    """A free choice of a content word: nothing but the frequencies of words, and the topic, can be known."""
    AGREEMENT = 2
    """The number of a verb is that of its subject, across other nouns."""
    NESTING = 3
    """The same, for a subject whose relative clause stands between, or inside a relative clause."""
    REFERENCE = 4
    """What is said about a pronoun must fit the noun it stands for."""
    RECALL = 5
    """What was said about a person before."""
    COPYING = 6
    """Letter for letter what was just spelled."""
    FACTS = 7
    """What is always so, in every document, and stands nowhere in the document."""
    ARITHMETIC = 8
    """The result of a sum."""
