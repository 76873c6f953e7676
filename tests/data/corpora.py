"""What the tests of the data share: types, and the text of a split."""

from collections.abc import Callable
from pathlib import Path

from zoo.data.corpus import Corpus

Load = Callable[..., Corpus]
SHAKESPEARE = Path(__file__).parents[3] / "shared" / "data" / "tinyshakespeare.txt"


def text_of(corpus: Corpus, split: str) -> bytes:
    """All text of a split, from its tokens."""
    return corpus.tokenizer.to_bytes(corpus.split(split).tokens.astype("int64"))
