"""From bytes to ids and back. A tokenizer learns from the training split only and is saved with the run, as JSON."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, SupportsIndex

import numpy as np
from jaxtyping import Int64
from torch import Tensor

from zoo.data.special import Special
from zoo.errors import UserError
from zoo.registry import Registry

Ids = Sequence[SupportsIndex] | np.ndarray | Tensor


LARGEST = 1 << 24
"""Of vocabularies that may be asked for: sixty times the largest in use."""


class Tokenizer(ABC):
    """Contract: text ids are 0 to text_ids − 1, the three marks follow; no text encodes to a mask, a start or an end;
    decode(encode(text)) is the text, but for characters that the tokenizer does not know."""

    needs_utf8: ClassVar[bool] = True
    """False for one that takes any bytes."""
    enough: ClassVar[int] = 1 << 62
    """So many words of documents that are all alike teach it what more would."""
    whole_words: ClassVar[bool] = False
    """Whether each id is a whole word, so that a distance in words is one in tokens."""
    takes_space: ClassVar[bool] = False
    """True: the token of a word holds the space before it."""

    @abstractmethod
    def train(self, texts: Iterable[bytes]) -> None:
        """Learn from pieces of the training split. Raises UserError when there is nothing to learn from."""

    @abstractmethod
    def encode(self, data: bytes) -> Int64[np.ndarray, "T"]:
        """Bytes to text ids. Raises UserError for bytes that are not UTF-8 where that is needed."""

    def ends_between(self, left: str, right: str) -> bool:
        """Whether a token always ends between those two characters, whatever stands around them, so that the texts
        before and after are encoded as if each stood alone. False where that is not known."""
        return False

    @property
    @abstractmethod
    def texts(self) -> list[bytes]:
        """What each text id decodes to, in order."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All that it knows, as plain JSON values."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: dict[str, Any]) -> "Tokenizer":
        """The tokenizer of that state. Raises any error for a damaged state."""

    @property
    def text_ids(self) -> int:
        """How many ids stand for text."""
        return len(self.texts)

    @property
    def vocabulary(self) -> int:
        """How many ids there are: text and marks."""
        return self.text_ids + 3

    @property
    def special(self) -> Special:
        """The marks after the text ids."""
        return Special.after(self.text_ids)

    @cached_property
    def byte_lengths(self) -> Int64[np.ndarray, "V"]:
        """How many bytes of text each id stands for: 0 for marks, −1 where that is not known."""
        return np.array([len(text) for text in self.texts] + [0, 0, 0], dtype=np.int64)

    def to_bytes(self, ids: Ids) -> bytes:
        """The text of ids; marks are no text. Raises UserError for an id that does not exist."""
        numbers = np.asarray(ids, dtype=np.int64).reshape(-1)
        wrong = numbers[(numbers < 0) | (numbers >= self.vocabulary)]
        if len(wrong):
            raise UserError(
                f"the tokenizer has no id {wrong[0]}: its vocabulary of {self.vocabulary} has the ids 0 to"
                f" {self.vocabulary - 1}; use the tokenizer that the ids were made with"
            )
        texts = self.texts
        return b"".join([texts[i] for i in numbers.tolist() if i < len(texts)])

    def decode(self, ids: Ids) -> str:
        """`to_bytes` as text; bytes that are not UTF-8 become replacement marks."""
        return self.to_bytes(ids).decode("utf-8", "replace")

    @property
    def name(self) -> str:
        """The name it is registered by."""
        return next(name for name in tokenizers.names() if tokenizers.get(name) is type(self))

    def to_json(self) -> str:
        """Pure data, from which `load_tokenizer` makes an equal tokenizer."""
        return json.dumps({"name": self.name, **self.state()}, sort_keys=True)

    @property
    def fingerprint(self) -> str:
        """Hash of all that it knows."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def refuse_vocabulary(asked: int, key: str = "tokenizer.vocabulary") -> None:
    """Raises UserError for a vocabulary beyond `LARGEST`, which no library bears."""
    if asked > LARGEST:
        raise UserError(f"{key}={asked} must be at most {LARGEST}")


tokenizers: Registry[Tokenizer] = Registry("tokenizer", Tokenizer, __name__)


def load_tokenizer(text: str) -> Tokenizer:
    """The tokenizer that `to_json` wrote. Nothing in it is executed. Raises UserError for anything else."""
    try:
        state = json.loads(text)
        name = state.pop("name")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError("this is no tokenizer of the zoo: it must be a JSON object with a 'name'") from None
    cls = tokenizers.get(name)
    try:
        return cls.from_state(state)
    except Exception as error:  # whatever a damaged file makes a library raise
        raise UserError(f"the saved tokenizer '{name}' is damaged ({error}); train it again") from None


def utf8(data: bytes) -> str:
    """The text of the bytes. Raises UserError with the place of the first that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"the text is not UTF-8 at byte {error.start}; convert it, or use tokenizer=bytes") from None
