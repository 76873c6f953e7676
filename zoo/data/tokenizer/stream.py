"""Text that appears while it is generated."""

import codecs

from zoo.data.tokenizer import Ids, Tokenizer


class Stream:
    """Decodes ids as they come. A character of several tokens is held back until it is complete, so that the joined
    output equals the decoded whole."""

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, ids: Ids) -> str:
        """The text that these ids complete."""
        return self._decoder.decode(self._tokenizer.to_bytes(ids))

    def close(self) -> str:
        """A replacement mark when the ids stopped inside a character, else nothing."""
        return self._decoder.decode(b"", final=True)
