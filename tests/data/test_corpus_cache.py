import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from jaxtyping import Int64

from tests.data.corpora import Load, text_of
from zoo.data import corpus as corpora
from zoo.data import files
from zoo.data.building import cache
from zoo.data.building.known import Known
from zoo.data.building.store import dtype_for, read_split, write_split
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.document import Document
from zoo.data.source import sources
from zoo.data.source.text import Text
from zoo.data.tokenizer import Tokenizer, tokenizers
from zoo.errors import UserError
from zoo.option import Option
from zoo.plugins import load_plugins

TEXT = b"The cat sat on the mat, and the na\xc3\xafve dog watched it.\n" * 40
ROOT = Path(__file__).parents[2]


class Numbers(Tokenizer):
    """Ids are decimal numbers: a vocabulary of any size."""

    def __init__(self, size: int):
        self.size = size

    def train(self, texts: Iterable[bytes]) -> None: ...

    def encode(self, data: bytes) -> Int64[np.ndarray, "T"]:
        return np.array([int(word) for word in data.split()], dtype=np.int64)

    @property
    def texts(self) -> list[bytes]:
        return [b""] * (self.size - 3)

    def state(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Numbers":
        return cls(3)


def folders(tmp_path: Path) -> list[Path]:
    return sorted(one for one in (tmp_path / "cache").iterdir() if one.is_dir())


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are built from now on."""
    built: list[Path] = []
    build = cache.build

    def counting(folder: Path, *rest: Any) -> None:
        built.append(folder)
        build(folder, *rest)

    monkeypatch.setattr(cache, "build", counting)
    return built


def same(a: Corpus, b: Corpus) -> bool:
    tokens = all(np.array_equal(a.split(name).tokens, b.split(name).tokens) for name in a.splits)
    return tokens and a.fingerprint == b.fingerprint and a.summary == b.summary


@pytest.mark.parametrize("tokenizer", tokenizers.names())
def test_a_corpus_is_built_once_and_found_again(load: Load, builds: list[Path], tokenizer: str) -> None:
    first = load(TEXT, tokenizer)
    assert same(first, load(TEXT, tokenizer))
    assert len(builds) == 1


def test_an_edited_file_is_a_new_corpus_even_when_size_and_second_are_the_same(load: Load, builds: list[Path]) -> None:
    first = load(TEXT)
    second = load(TEXT.replace(b"cat", b"cow"))
    assert first.fingerprint != second.fingerprint
    assert b"cow" in text_of(second, "train")
    assert len(builds) == 2


def test_the_hash_of_an_unchanged_file_is_remembered(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FRESH", -1.0)  # as if the file were older than it is
    first = load(TEXT)
    monkeypatch.setattr(corpora, "scan", lambda source: pytest.fail("the file was read again"))
    data = Option("text", {"path": str(tmp_path / "my.txt")})
    assert same(first, load_corpus(data, Option("bytes"), str(tmp_path / "cache")))


def test_a_file_is_read_again_in_another_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FRESH", -1.0)
    (tmp_path / "my.txt").write_bytes(b"caf\xe9\n" * 40)
    for encoding in ("latin-1", "cp1251", "latin-1"):
        data = Option("text", {"path": str(tmp_path / "my.txt"), "encoding": encoding})
        corpus = load_corpus(data, Option("bytes"), str(tmp_path / "cache"))
        assert text_of(corpus, "train").startswith(b"caf\xe9\n".decode(encoding).encode())


class Lower(Text):
    """Reads the same files, and hands on something else."""

    def documents(self) -> Iterator[Document]:
        for one in super().documents():
            yield Document(one.name, lambda one=one: [piece.lower() for piece in one.read()])  # type: ignore[misc]


@pytest.mark.parametrize("order", [("text", "lower"), ("lower", "text")])
def test_what_another_source_read_in_a_file_is_not_taken_for_its_text(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: tuple[str, str]
) -> None:
    monkeypatch.setattr(files, "FRESH", -1.0)
    monkeypatch.setitem(sources._classes, "lower", Lower)
    (tmp_path / "my.txt").write_bytes(TEXT)
    found = {
        name: load_corpus(Option(name, {"path": str(tmp_path / "my.txt")}), Option("bytes"), str(tmp_path / "cache"))
        for name in order
    }
    assert text_of(found["text"], "train").startswith(b"The cat")
    assert text_of(found["lower"], "train").startswith(b"the cat")
    assert found["text"].fingerprint != found["lower"].fingerprint


def test_no_two_sources_share_what_is_known_of_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sources._classes, "lower", Lower)
    notes = []
    for name in sources.names():
        cls = sources.get(name)
        monkeypatch.setattr(cls, "stamp", lambda self: "the same files")
        for values in ({}, {"path": "a"}, {"path": "b"}, {"path": "a", "encoding": "latin-1"}):
            notes.append(Known(tmp_path, Option(name, values), cls.__new__(cls)).file)
    assert len(set(notes)) == len(notes)


PLUGIN = """
from zoo.data.source import sources
from zoo.data.source.text import Text
from zoo.data.tokenizer import tokenizers
from zoo.data.tokenizer.bytes import Bytes


@sources.register("mine")
class Mine(Text):
    pass


@tokenizers.register("mine")
class Numbered(Bytes):
    def encode(self, data):
        return super().encode(data)
"""


def test_edited_code_of_a_plugin_makes_the_tokens_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builds: list[Path]
) -> None:
    monkeypatch.setattr(files, "FRESH", -1.0)
    monkeypatch.syspath_prepend(str(tmp_path))
    for family in (sources, tokenizers):
        monkeypatch.setattr(family, "_classes", {name: family.get(name) for name in family.names()})
    (tmp_path / "my.txt").write_bytes(TEXT)

    def load(source: str, tokenizer: str, encode: str = "super().encode(data)") -> Corpus:
        (tmp_path / "corpus_plugin.py").write_text(PLUGIN.replace("super().encode(data)", encode))
        sys.modules.pop("corpus_plugin", None)
        load_plugins("corpus_plugin")
        data = Option(source, {"path": str(tmp_path / "my.txt")})
        return load_corpus(data, Option(tokenizer), str(tmp_path / "cache"))

    for source, tokenizer, start in (("text", "mine", b"tHE"), ("mine", "bytes", b"The")):
        builds.clear()
        assert same(load(source, tokenizer), load(source, tokenizer))
        assert len(builds) == 1
        edited = load(source, tokenizer, "super().encode(data.swapcase())")
        assert len(builds) == 2
        assert text_of(edited, "train").startswith(start)


def test_a_file_that_has_just_changed_is_never_trusted_by_its_times(tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_bytes(TEXT)
    assert files.stamp([tmp_path / "my.txt"]) is None


def test_another_split_tokenizer_or_option_is_another_corpus(load: Load, builds: list[Path]) -> None:
    made = [
        load(TEXT),
        load(TEXT, split=(0.7, 0.2, 0.1)),
        load(TEXT, "chars"),
        load(TEXT, Option("bpe", {"vocabulary": 260})),
        load(TEXT, Option("bpe", {"vocabulary": 270})),
    ]
    assert len({one.fingerprint for one in made}) == len(builds) == len(made)


def test_the_fingerprint_does_not_depend_on_where_the_file_lies(load: Load, tmp_path: Path) -> None:
    first = load(TEXT)
    (tmp_path / "moved.txt").write_bytes(TEXT)
    data = Option("text", {"path": str(tmp_path / "moved.txt")})
    moved = load_corpus(data, Option("bytes"), str(tmp_path / "other cache"))
    assert moved.fingerprint == first.fingerprint
    assert moved.summary["paths"] != first.summary["paths"]


def spoil_tokens(folder: Path) -> None:
    with (folder / "train.tokens").open("ab") as handle:
        handle.write(b"x")


def swap_tokens(folder: Path) -> None:
    file = folder / "train.tokens"
    tokens = np.fromfile(file, dtype="<u2")
    file.unlink()  # what is mapped stays as it was
    tokens[::-1].tofile(file)


def forget_a_split(folder: Path) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    del meta["summary"]["splits"]["test"], meta["seal"]
    (folder / "meta.json").write_text(json.dumps({**meta, "seal": cache.digest(meta)}))


def spoil_seal(folder: Path) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    meta["summary"]["bytes"] += 1
    (folder / "meta.json").write_text(json.dumps(meta))


def spoil_offsets(folder: Path) -> None:
    (folder / "test.offsets").write_bytes(np.array([0, 7], dtype="<i8").tobytes())


def spoil_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text(tokenizers.build(Option("bytes")).to_json())


def spoil_dtype(folder: Path) -> None:
    file = folder / "meta.json"
    file.write_text(file.read_text().replace("uint16", "uint32"))


def spoil_meta(folder: Path) -> None:
    (folder / "meta.json").write_text('{"format": 1')


def spoil_format(folder: Path) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**meta, "format": 0}))


def lose_a_file(folder: Path) -> None:
    (folder / "validation.tokens").unlink()


def leave_half(folder: Path) -> None:
    folder.rename(folder.with_suffix(".part"))
    (folder.with_suffix(".part") / "meta.json").unlink()


SPOILS = [
    spoil_tokens, swap_tokens, forget_a_split, spoil_seal, spoil_offsets,
    spoil_tokenizer, spoil_dtype, spoil_meta, spoil_format, lose_a_file, leave_half,
]  # fmt: skip


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_damaged_or_half_written_cache_is_built_again(
    load: Load, tmp_path: Path, builds: list[Path], spoil: Callable[[Path], None]
) -> None:
    first = load(TEXT, "chars")
    spoil(folders(tmp_path)[0])
    assert same(first, load(TEXT, "chars"))
    assert len(builds) == 2
    assert len(folders(tmp_path)) == 1


def test_a_large_vocabulary_does_not_wrap_in_storage(tmp_path: Path) -> None:
    tokenizer = Numbers(70_001)
    facts = write_split(tmp_path, "train", [[b"70000 4464", b"1"], [b"0"]], tokenizer, True)
    assert facts["dtype"] == "uint32"
    split = read_split(tmp_path, "train", facts, 70_001, True)
    assert split.tokens.tolist() == [70_000, 4464, 1, 69_999, 0, 69_999]
    assert split.offsets.tolist() == [0, 4, 6]
    with pytest.raises(UserError, match="stored as uint32"):
        read_split(tmp_path, "train", facts, 500, True)


def test_sixteen_bits_hold_up_to_65536_ids() -> None:
    assert [dtype_for(size) for size in (259, 65_535, 65_536, 65_537)] == ["uint16", "uint16", "uint16", "uint32"]


def test_tokens_are_little_endian_on_disk(load: Load, tmp_path: Path) -> None:
    load(b"ab", split=(1.0, 0.0, 0.0))
    assert (folders(tmp_path)[0] / "train.tokens").read_bytes() == b"a\0b\0"


def test_an_end_mark_closes_every_document_of_several_and_is_no_text(load: Load) -> None:
    end = 257
    several = load({"a": b"one", "b": b"two", "c": b"three"}, split=(1.0, 0.0, 0.0)).split("train")
    assert several.tokens.tolist() == [*b"one", end, *b"two", end, *b"three", end]
    assert (several.bytes, several.bytes_unknown) == (11, None)
    assert end not in load(TEXT).split("train").tokens


@pytest.mark.parametrize("tokenizer", tokenizers.names())
@pytest.mark.parametrize("text", ["naïve café", "nai\u0308ve cafe\u0301", "plain  text"])
def test_the_bytes_of_all_tokens_are_the_bytes_of_the_text(load: Load, tokenizer: str, text: str) -> None:
    corpus = load(f"{text}\n".encode() * 30, tokenizer)
    for split in corpus.splits.values():
        assert split.bytes_unknown is None
        assert corpus.tokenizer.byte_lengths[split.tokens].sum() == split.bytes
    assert sum(split.bytes for split in corpus.splits.values()) == 30 * len(f"{text}\n".encode())


def test_bits_per_byte_are_refused_where_a_character_is_unknown(load: Load) -> None:
    corpus = load(b"a" * 80 + b"ab" * 5 + b"a" * 10, "chars")
    assert corpus.split("train").bytes_unknown is None
    assert corpus.split("validation").bytes_unknown == "5 characters of validation are not in the tokenizer's alphabet"
    assert corpus.split("test").bytes_unknown is None


def test_a_trained_tokenizer_can_be_given(load: Load, builds: list[Path]) -> None:
    trained = load(b"abc " * 30, "chars").tokenizer
    corpus = load(b"cab!" * 30, trained)
    assert corpus.tokenizer.to_json() == trained.to_json()
    assert corpus.split("train").tokens[:4].tolist() == [3, 1, 2, trained.text_ids - 1]
    assert load(b"cab!" * 30, "chars").fingerprint != corpus.fingerprint


def test_the_summary_is_plain_json(load: Load) -> None:
    summary = load(TEXT, "bpe").summary
    assert json.loads(json.dumps(summary)) == summary
    assert summary["bytes"] == len(TEXT)
    assert summary["splits"]["train"]["tokens"] > 0
    assert {"vocabulary", "overlap", "paths", "content", "line_ends", "documents", "tokenizer"} <= set(summary)


def test_two_builders_at_once_build_one(tmp_path: Path, builds: list[Path]) -> None:
    (tmp_path / "my.txt").write_bytes(TEXT)
    data = Option("text", {"path": str(tmp_path / "my.txt")})
    found: list[Corpus] = []

    def load() -> None:
        found.append(load_corpus(data, Option("bpe"), str(tmp_path / "cache")))

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1
    assert all(same(found[0], one) for one in found[1:])
    assert len(found) == 4


def test_what_a_killed_process_left_half_built_is_swept_up_by_the_next_build(load: Load, tmp_path: Path) -> None:
    left, living = (tmp_path / "cache" / f"{digit * 32}.part" for digit in "ab")
    for part in (left, living):
        part.mkdir(parents=True)
        (part / "train.tokens").write_bytes(b"half")
    with FileLock(living.with_suffix(".lock")):
        load(TEXT)
        assert not left.exists()
        assert living.exists()


def test_bad_text_leaves_nothing_behind(load: Load, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not UTF-8"):
        load(b"\xff" * 100, "bpe")
    assert folders(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_named_and_stays_as_it_was(load: Load, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file stands where the cache should be")
    with pytest.raises(UserError, match=rf"cannot write .*{tmp_path}/cache .*set cache="):
        load(TEXT)


def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(load: Load, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    (tmp_path / "my.txt").write_bytes(TEXT * 20)
    data = Option("text", {"path": str(tmp_path / "my.txt")})
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(UserError, match=rf"cannot write .*{tmp_path}/cache \(File too large\); make room"):
            load_corpus(data, Option("bytes"), str(tmp_path / "cache"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert folders(tmp_path) == []
    assert load(TEXT * 20).split("train").bytes == len(TEXT) * 16


def test_a_whole_cache_that_cannot_be_written_can_be_read(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FRESH", -1.0)
    first = load(TEXT)

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert same(first, load(TEXT))
    with pytest.raises(UserError, match="Permission denied"):
        load(TEXT, "chars")


MEMORY = """
import resource, sys
from zoo.data.batches import Loader
from zoo.data.corpus import load_corpus
from zoo.option import Option

def use(path):
    corpus = load_corpus(Option("text", {"path": path}), Option("bytes"), sys.argv[3])
    loader = Loader(corpus, "train", 65, 1, 8, 64)
    for i in range(50):
        loader.train_batch(i, 0)
    return corpus.summary["bytes"]

small = use(sys.argv[1])
now = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (now + (32 << 20),) * 2)  # memory of our own, not that of mapped files
print(small, use(sys.argv[2]))
"""


def test_a_cache_in_which_no_file_can_be_made_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("a line, and another one\n" * 100)
    data = Option("text", {"path": str(tmp_path / "my.txt")})
    with pytest.raises(UserError, match=r"cannot write the tokens of the corpus in /proc \(.+\); .*set cache="):
        load_corpus(data, Option("bytes"), "/proc")


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_a_corpus_is_built_and_read_in_constant_memory(tmp_path: Path) -> None:
    for name, mebibytes in (("small", 3), ("large", 64)):
        with (tmp_path / name).open("wb") as handle:
            for i in range(mebibytes):
                line = b"The quick brown fox number %d jumps over the lazy dog, again and again.\n" % i
                handle.write((line * (1 << 14))[: 1 << 20])
    command = [sys.executable, "-c", MEMORY, *(str(tmp_path / name) for name in ("small", "large", "cache"))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(3 << 20), str(64 << 20)]


MEMORY_OF_PAIRS = """
import resource, sys
from zoo.data import kept, split
from zoo.data import sorting
from zoo.data.batches import Loader
from zoo.data.corpus import load_corpus
from zoo.option import Option

kept.AT_ONCE = sorting.AT_ONCE = split.AT_ONCE = 1 << 12

def use(path):
    option = Option("pairs", {"path": path, "split": (0.98, 0.01, 0.01)})
    corpus = load_corpus(option, Option("bytes"), sys.argv[3])
    loader = Loader(corpus, "train", 0, 0, 8, 160)
    for i in range(50):
        loader.train_batch(i, 0)
    return corpus.summary["documents"]

small = use(sys.argv[1])
now = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (now + (12 << 20),) * 2)  # memory of our own, not that of mapped files
print(small, use(sys.argv[2]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_pairs_are_built_and_read_in_constant_memory(tmp_path: Path) -> None:
    counts = (10_000, 130_000)
    for count in counts:
        (tmp_path / str(count)).write_text("".join(f"{i:030d}\t{-i:0100d}\n" for i in range(count)))
    command = [sys.executable, "-c", MEMORY_OF_PAIRS, *(str(tmp_path / str(one)) for one in (*counts, "cache"))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(count) for count in counts]
