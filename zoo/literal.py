"""Texts on a command line are taken as they were typed: nothing in them has to be quoted for Hydra."""

import re
import shlex
from collections.abc import Iterable

TEXTS = ("generate.prompt", "attention.text", "attention.source")
"""The keys that are set to text."""
PLAIN = re.compile(r"[\w/+.@%:-]+", re.ASCII)
"""What neither a shell nor Hydra reads as anything but itself."""
SYNTAX = re.compile(r"""['"\\,$(){}\[\]]""")
"""What Hydra reads as more than itself."""

QUOTED = re.compile(r"""(['"])(\\.|(?!\1)[^\\])*\1""", re.DOTALL)
"""A value of which all stands in quotes."""


def quote_texts(words: Iterable[str]) -> list[str]:
    """The words of a command line, with the values of TEXTS in Hydra's quotes, and values with letters beyond ASCII,
    which Hydra reads in quotes only. What stands in quotes already, a list of quoted texts, and null stay as they
    are."""
    return [_quoted(word) for word in words]


def as_word(key: str, value: str) -> str:
    """The word of a command line that sets the key to that text, as it can be pasted into a shell."""
    if PLAIN.fullmatch(value):
        return f"{key}={value}"
    escaped = re.sub(r"(\\*)\$\{", r"\1\1\\${", value)
    escaped = re.sub(r'(\\*)("|\Z)', lambda found: found[1] * 2 + ('\\"' if found[2] else ""), escaped)
    return shlex.quote(f'{key}="{escaped}"')


def text_of(word: str) -> str:
    """The text that the word of a command line sets its key to: as it stands, or as Hydra reads it where all of it
    stands in quotes."""
    value = word.partition("=")[2]
    if not QUOTED.fullmatch(value):
        return value
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from omegaconf import OmegaConf

    return str(OmegaConf.create({"text": OverridesParser.create().parse_override(f"text={value}").value()}).text)


def _quoted(word: str) -> str:
    key, equals, text = word.partition("=")
    if not text.isascii() and key not in TEXTS and not SYNTAX.search(text):
        return f"{key}='{text}'"
    if key not in TEXTS or not equals or text == "null" or re.match(r"\[\s*(['\"]|\]$)", text):
        return word
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return word
    text = re.sub(r"(\\*)\$\{", r"\1\1\\${", text)  # no reference to another key
    text = re.sub(r"(\\*)('|\Z)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), text)
    return f"{key}='{text}'"
