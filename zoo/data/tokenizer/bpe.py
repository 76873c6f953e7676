"""Frequent sequences of bytes as ids."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int64
from tokenizers import Regex, models, pre_tokenizers, trainers
from tokenizers import Tokenizer as Model

from zoo.data.document import cut
from zoo.data.tokenizer import Tokenizer, refuse_vocabulary, tokenizers, utf8
from zoo.errors import UserError

WORD = r" ?\p{L}{1,64}| ?\p{N}{1,64}| ?[^\s\p{L}\p{N}]{1,64}|\s{1,64}(?!\S)|\s{1,64}"
"""What merges may span: a word, a number, a run of signs or of white space, with the space before it."""
LEARNED_AT_ONCE = 1 << 14
ENCODED_AT_ONCE = 1 << 16
SINGLE_SPACE = re.compile(r"(?<=\S)(?= \S)")
"""Before a space between two other characters: there `WORD` always ends one match and begins another, so that what lies
between two such places is encoded the same wherever it stands."""
MOST_KNOWN = 1 << 16
"""So many different chunks are remembered with their ids."""


@tokenizers.register("bpe")
class Bpe(Tokenizer):
    """Byte pair encoding: starting from single bytes, the most frequent pair becomes a new id, until there are
    `vocabulary` ids of text, or no pair is left that occurs twice.

    paper: Sennrich et al. 2016, arXiv:1508.07909; on bytes: Radford et al. 2019 (GPT-2)
    differs: from GPT-2, no contraction rule, and a word ends after 64 characters, so that text without spaces, or
    5 MB of newlines, trains as fast as any other.
    """

    takes_space: ClassVar[bool] = True

    enough = 100_000

    def __init__(self, *, vocabulary: int = 2048):
        if vocabulary < 256:
            raise UserError(f"tokenizer.vocabulary={vocabulary}: bpe needs at least 256, one id for each byte")
        refuse_vocabulary(vocabulary)
        self.asked = vocabulary
        self._set(_untrained())

    def train(self, texts: Iterable[bytes]) -> None:
        """Learns the merges."""
        model, seen = _untrained(), 0

        def parts() -> Iterator[str]:
            nonlocal seen
            for part in _parts(texts, LEARNED_AT_ONCE):
                seen += len(part)
                yield part

        trainer = trainers.BpeTrainer(
            vocab_size=self.asked,
            min_frequency=2,
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
        model.train_from_iterator(parts(), trainer)
        if not seen:
            raise UserError("tokenizer=bpe has no text to learn from; give train a share in data.split")
        self._set(model)

    def encode(self, data: bytes) -> Int64[np.ndarray, "T"]:
        """Merges applied in the order in which they were learned."""
        found = [self._encoded(SINGLE_SPACE.split(part)) for part in _parts([data], ENCODED_AT_ONCE)]
        return np.concatenate([np.empty(0, dtype=np.int64), *found])

    def _encoded(self, chunks: list[str]) -> Int64[np.ndarray, "T"]:
        """Each different chunk is given to the library once, as long as there are few."""
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        known = self._known
        new = [chunk for chunk in dict.fromkeys(chunks) if chunk not in known]
        made = self._model.encode_batch_fast(new, add_special_tokens=False)
        known.update((chunk, one.ids) for chunk, one in zip(new, made, strict=True))
        return np.fromiter(chain.from_iterable(map(known.__getitem__, chunks)), dtype=np.int64)

    @property
    def texts(self) -> list[bytes]:
        """The byte sequence of each id."""
        return self._texts

    def state(self) -> dict[str, Any]:
        """The vocabulary asked for, and vocabulary and merges in the format of Hugging Face `tokenizers`."""
        return {"vocabulary": self.asked, "model": json.loads(self._model.to_str())}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Bpe":
        """With that vocabulary and those merges."""
        tokenizer = cls(vocabulary=state["vocabulary"])
        tokenizer._set(Model.from_str(json.dumps(state["model"])))
        return tokenizer

    def _set(self, model: Model) -> None:
        self._model = model
        self._known: dict[str, list[int]] = {}
        value = {sign: byte for byte, sign in enumerate(_signs())}
        vocabulary = sorted(model.get_vocab().items(), key=lambda entry: entry[1])
        self._texts = [bytes(value[sign] for sign in token) for token, _ in vocabulary]
        self.__dict__.pop("byte_lengths", None)


def _untrained() -> Model:
    """A model of single bytes."""
    signs = sorted(_signs())
    model = Model(models.BPE(vocab={sign: i for i, sign in enumerate(signs)}, merges=[]))
    words = pre_tokenizers.Split(Regex(WORD), behavior="isolated")
    signed = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    model.pre_tokenizer = pre_tokenizers.Sequence([words, signed])
    return model


def _parts(pieces: Iterable[bytes], limit: int) -> Iterator[str]:
    """Text in parts of at most `limit` bytes, so that the library never holds much at once and uses all cores."""
    return (utf8(part) for piece in pieces for part in cut([piece], limit))


def _signs() -> str:
    """The visible character that GPT-2's byte-level BPE writes for each byte value: itself where it is visible, else
    the next one from U+0100 on."""
    visible = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = iter(range(256, 512))
    return "".join(chr(byte) if byte in visible else chr(next(others)) for byte in range(256))
