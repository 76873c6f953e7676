"""What the tests of the data share: writing small corpora and loading them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.data.corpora import SHAKESPEARE, Load
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.tokenizer import Tokenizer
from zoo.option import Option

settings.register_profile("data", deadline=None)  # examples are slow when the machine is busy, not when we are wrong
settings.load_profile("data")


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """load(content, tokenizer, **keys of data=text): content is the bytes of one file, or a dict of files."""

    def load(content: bytes | dict[str, bytes], tokenizer: str | Option | Tokenizer = "bytes", **keys: Any) -> Corpus:
        path = tmp_path / "my.txt"
        if isinstance(content, dict):
            path = tmp_path / "folder"
            for name, text in content.items():
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                (path / name).write_bytes(text)
        else:
            path.write_bytes(content)
        option = Option(tokenizer) if isinstance(tokenizer, str) else tokenizer
        return load_corpus(Option("text", {"path": str(path), **keys}), option, str(tmp_path / "cache"))

    return load


@pytest.fixture
def shakespeare() -> Path:
    if not SHAKESPEARE.is_file():
        pytest.skip(f"{SHAKESPEARE} is not here")
    return SHAKESPEARE
