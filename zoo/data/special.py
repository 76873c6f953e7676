"""The three marks that every tokenizer has after its text ids."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Special:
    """Ids of the marks: `start` opens a target, `end` closes a document or target, `mask` hides a token. They stand
    for no text: zero bytes, and decoded to nothing."""

    start: int
    end: int
    mask: int

    @classmethod
    def after(cls, text_ids: int) -> "Special":
        """The marks that follow `text_ids` ids of text."""
        return cls(text_ids, text_ids + 1, text_ids + 2)
