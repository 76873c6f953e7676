import random
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.data.corpora import Load, text_of
from zoo.data import sorting, split
from zoo.data.building.overlap import SAMPLE
from zoo.data.corpus import load_corpus
from zoo.data.sorting import Sorter
from zoo.data.split import SPLITS, assign, blocks, check_shares
from zoo.data.told import repeated, told
from zoo.errors import UserError
from zoo.option import Option
from zoo.schema import parse_option

Shares = tuple[float, float, float]
SHARES = st.sampled_from([(0.8, 0.1, 0.1), (0.9, 0.1, 0.0), (0.5, 0.0, 0.5), (1.0, 0.0, 0.0), (0.0, 0.5, 0.5)])


def documents(count: int, draw: random.Random) -> dict[str, bytes]:
    return {f"{i:04d}": f"{i} {draw.random()} ".encode() * draw.randrange(5, 50) for i in range(count)}


def contents(corpus: Any, split: str) -> list[bytes]:
    part = corpus.split(split)
    ids = [part.tokens[a : b - 1].tolist() for a, b in zip(part.offsets, part.offsets[1:], strict=False)]
    return [bytes(one) for one in ids]


@pytest.mark.parametrize("shares", [(0.8, 0.1, 0.2), (1.1, -0.1, 0.0), (0.0, 0.0, 0.0), (float("nan"), 0.5, 0.5)])
def test_shares_are_not_negative_and_sum_to_one(shares: Shares) -> None:
    with pytest.raises(UserError, match=r"data\.split=.*sum to 1"):
        check_shares(shares)


def test_shares_may_be_zero_and_need_sum_to_one_only_nearly() -> None:
    for shares in ((0.9, 0.1, 0.0), (1.0, 0.0, 0.0), (1 / 3, 1 / 3, 1 / 3), (0.7, 0.2, 0.1)):
        assert check_shares(shares) == shares


def test_a_share_that_is_text_is_refused_with_its_name() -> None:
    for wrong in ("0.8,0.1,0.1", ["0.8", 0.1, 0.1], [0.9, 0.1]):
        with pytest.raises(UserError, match=r"data\.split"):
            parse_option("data", {"name": "text", "path": "my.txt", "split": wrong}, "data")


@given(st.integers(0, 10_000), SHARES)
def test_blocks_cover_everything_once_in_order(size: int, shares: Shares) -> None:
    borders = blocks(size, shares)
    assert borders[0] == 0
    assert borders[-1] == size
    for share, start, stop in zip(shares, borders, borders[1:], strict=False):
        assert abs(stop - start - share * size) <= 1
        assert share or start == stop


RECORDS = st.lists(
    st.tuples(st.integers(0, 6) | st.integers(0, 2**64 - 1), st.integers(0, 50)), min_size=1, max_size=40
)


def assigned(records: list[tuple[int, int]], shares: Shares) -> tuple[list[int], int]:
    """What `assign` makes of records with these keys and sizes."""
    with TemporaryDirectory() as room:
        sorter = Sorter(Path(room))
        for number, (key, size) in enumerate(records):
            if size:
                sorter.add(key, number, size)
        labels, different = assign(sorter, len(records), shares, Path(room))
        return labels.tolist(), different


def assigned_in_memory(records: list[tuple[int, int]], shares: Shares) -> list[int]:
    """The same, written for records that memory holds."""
    weights: dict[int, int] = {}
    for key, size in records:
        if size:
            weights[key] = weights.get(key, 0) + size
    order = sorted(weights, key=lambda key: (-weights[key], key))
    wanted = [i for i, share in enumerate(shares) if share]
    fill, chosen = [0, 0, 0], {}
    for key in order:
        chosen[key] = min(wanted, key=lambda i: (fill[i] + weights[key]) / shares[i])
        fill[chosen[key]] += weights[key]
    members = [list(chosen.values()).count(i) for i in range(3)]
    most = members.index(max(members))
    for empty in [i for i in wanted if not members[i]]:
        chosen[[key for key in order if chosen[key] == most][-1]] = empty
    return [chosen[key] if size else -1 for key, size in records]


@pytest.mark.parametrize("at_once", [3, 1 << 16])
@given(records=RECORDS, shares=SHARES | st.just((0.98, 0.01, 0.01)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_records_of_one_key_share_a_split_and_no_split_with_a_share_is_empty(
    monkeypatch: pytest.MonkeyPatch, at_once: int, records: list[tuple[int, int]], shares: Shares
) -> None:
    for module in (sorting, split):
        monkeypatch.setattr(module, "AT_ONCE", at_once)
    keys = {key for key, size in records if size}
    wanted = {i for i, share in enumerate(shares) if share}
    if len(keys) < len(wanted):
        with pytest.raises(UserError, match="too few"):
            assigned(records, shares)
        return
    labels, different = assigned(records, shares)
    assert labels == assigned_in_memory(records, shares)
    assert different == len(keys)
    assert {label for label, (_, size) in zip(labels, records, strict=True) if size} == wanted
    assert all((label == -1) == (size == 0) for label, (_, size) in zip(labels, records, strict=True))
    assert len({(key, label) for label, (key, size) in zip(labels, records, strict=True) if size}) == len(keys)


@given(st.permutations(range(30)))
def test_the_split_of_a_record_does_not_depend_on_the_order(order: list[int]) -> None:
    draw = random.Random(0)
    records = [(draw.randrange(1 << 63), draw.randrange(1, 99)) for _ in range(30)]
    labels = assigned(records, (0.8, 0.1, 0.1))[0]
    assert assigned([records[i] for i in order], (0.8, 0.1, 0.1))[0] == [labels[i] for i in order]


def test_pairs_stand_in_the_split_of_their_source_in_the_order_of_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in (sorting, split):
        monkeypatch.setattr(module, "AT_ONCE", 16)
    draw = random.Random(1)
    rows = [(f"source {draw.randrange(90)}" * draw.randrange(2), f"target {i}" * draw.randrange(9)) for i in range(400)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows))
    data = Option("pairs", {"path": str(tmp_path / "pairs.tsv")})
    corpus = load_corpus(data, Option("bytes"), str(tmp_path / "cache"))
    records = [
        (int.from_bytes(sha256(a.encode()).digest()[:8], "little"), len(a) + len(b) if a and b else 0) for a, b in rows
    ]
    labels = assigned_in_memory(records, (0.8, 0.1, 0.1))
    for i, name in enumerate(SPLITS):
        wanted = [row for label, row in zip(labels, rows, strict=True) if label == i]
        found = corpus.split(name)
        sizes = [len(side) for row in wanted for side in row]
        assert text_of(corpus, name).decode() == "".join(a + b for a, b in wanted)
        assert np.diff(found.offsets).tolist() == sizes
    used = [key for key, size in records if size]
    assert corpus.summary["documents"] == len(used)
    assert corpus.summary["repeated_documents"] == len(used) - len(set(used))
    assert corpus.summary["empty_documents_left_out"] == len(rows) - len(used)


def test_repeated_documents_stand_in_one_split_and_shares_are_close(load: Load) -> None:
    files = documents(60, random.Random(0))
    copies = {f"copy/{name}": text for name, text in files.items()}
    corpus = load(files | copies)
    seen = {name: set(contents(corpus, name)) for name in corpus.splits}
    assert not seen["train"] & seen["validation"] | seen["train"] & seen["test"] | seen["validation"] & seen["test"]
    assert set().union(*seen.values()) == set(files.values())
    total = sum(split.bytes for split in corpus.splits.values())
    for name, share in zip(corpus.splits, (0.8, 0.1, 0.1), strict=True):
        assert abs(corpus.split(name).bytes / total - share) < 0.02
    assert corpus.summary["repeated_documents"] == 60
    assert corpus.summary["divided"] == "by document"


def test_too_few_documents_for_the_splits_are_refused(load: Load) -> None:
    with pytest.raises(UserError, match="1 different documents, too few"):
        load({"a": b"same", "b": b"same"})


def test_one_document_is_split_into_contiguous_blocks(load: Load) -> None:
    text = bytes(range(32, 127)) * 10
    corpus = load(text)
    assert [text_of(corpus, name) for name in ("train", "validation", "test")] == [
        text[:760],
        text[760:855],
        text[855:],
    ]
    assert corpus.summary["divided"] == "into contiguous blocks"


@given(st.text(alphabet="aé漢😀", min_size=40, max_size=60))
def test_a_block_never_begins_inside_a_character(text: str) -> None:
    from zoo.data.document import character_start

    for border in blocks(len(text.encode()), (0.8, 0.1, 0.1)):
        text.encode()[: character_start(text.encode(), border)].decode()


def test_blocks_of_multibyte_text_are_whole_characters(load: Load) -> None:
    text = "漢é😀" * 111
    corpus = load(text.encode(), "chars")
    parts = [text_of(corpus, name).decode() for name in ("train", "validation", "test")]
    assert "".join(parts) == text


def test_nine_tenths_of_tinyshakespeare_train_and_the_rest_validates(shakespeare: Path, tmp_path: Path) -> None:
    text = shakespeare.read_bytes()
    data = Option("text", {"path": str(shakespeare), "split": (0.9, 0.1, 0.0)})
    corpus = load_corpus(data, Option("chars"), str(tmp_path))
    border = int(len(text.decode()) * 0.9)
    assert text_of(corpus, "train") == text[:border]
    assert text_of(corpus, "validation") == text[border:]
    assert corpus.tokenizer.text_ids == 65 + 1
    assert list(corpus.splits) == ["train", "validation"]
    with pytest.raises(UserError, match="no test split"):
        corpus.split("test")


def test_the_tokenizer_learns_from_the_training_split_only(load: Load) -> None:
    corpus = load(b"a" * 80 + b"b" * 10 + b"c" * 10, "chars")
    assert corpus.tokenizer.texts == [b"a", "\ufffd".encode()]
    merges = load(b"abcdefgh " * 800 + b"uvwxyz " * 250, "bpe")
    assert b"abcd" in b" ".join(merges.tokenizer.texts)
    assert b"uvwx" not in b" ".join(merges.tokenizer.texts)


@pytest.mark.parametrize(
    "text", [b"abcab cabca bcabc abcab cabca bcabc abcab", b"ACGT" * 35, b"one\ntwo\nthree\nfour" * 7]
)
@pytest.mark.parametrize("tokenizer", ["bytes", "chars", "bpe"])
def test_a_tiny_corpus_is_split_as_asked(load: Load, text: bytes, tokenizer: str) -> None:
    corpus = load(text, tokenizer)
    parts = [text_of(corpus, name) for name in ("train", "validation", "test")]
    assert all(parts)
    assert b"".join(parts) == text


def test_a_corpus_too_small_for_its_splits_is_refused(load: Load) -> None:
    with pytest.raises(UserError, match=r"5 bytes is too small .* validation would be empty"):
        load(b"hello")
    assert text_of(load(b"hello", split=(1.0, 0.0, 0.0)), "train") == b"hello"


def test_lines_that_stand_in_train_too_are_counted(load: Load) -> None:
    long = [f"this is line number {i} and it is longer than forty bytes" for i in range(100)]
    long[85] = long[3]
    long[95] = long[96] = long[7]
    short = ["short"] * 100
    corpus = load("".join(f"{a}\n{b}\n" for a, b in zip(long, short, strict=True)).encode())
    found = corpus.summary["overlap"]
    assert found["validation"]["in_train"] == 1
    assert found["test"]["in_train"] == 2
    assert found["validation"]["share"] == pytest.approx(1 / found["validation"]["lines"])
    assert 8 <= found["validation"]["lines"] <= 11


def test_short_lines_are_compared_as_passages_wherever_these_begin(load: Load) -> None:
    equal = load((b"x" * 39 + b"\n") * 300).summary["overlap"]
    assert equal["validation"]["share"] == equal["test"]["share"] == 1.0
    numbers = [f"line {i}" for i in range(1000)]  # 8 bytes each, but for the first hundred
    numbers[850:860] = numbers[103:113]
    found = load("\n\n".join(numbers).encode()).summary["overlap"]
    assert found["validation"]["in_train"] == 10 - 4  # passages of 5 lines, 40 bytes
    assert 90 <= found["validation"]["lines"] <= 100
    assert found["test"]["in_train"] == 0


def test_what_is_shorter_than_a_passage_has_no_overlap_to_report(load: Load) -> None:
    summary = load(b"short\n" * 50).summary
    assert summary["overlap"]["test"] == {"lines": 0, "in_train": 0, "share": None}
    assert told(summary) == (
        "data=text: 240 train, 30 validation, 30 test tokens of bytes; line ends kept as they are: 50 LF;"
        " nothing held out was compared with train"
    )


def test_what_stands_in_train_too_is_told(load: Load) -> None:
    lines = [f"this is line number {i} and it is longer than forty bytes\n" for i in range(50)]
    lines[47] = lines[3]
    summary = load("".join(lines).encode()).summary
    assert repeated(summary) == ["1 of 5 test lines (20.00 %) stand in train"]
    assert told(summary).endswith("; 1 of 5 test lines (20.00 %) stand in train")


def test_overlap_looks_for_a_bounded_even_sample(load: Load) -> None:
    half = SAMPLE  # as many lines again as are looked for
    lines = "".join(f"{i % (2 * half):060d}\n" for i in range(3 * half))  # the first half of the held-out lines is new
    corpus = load(lines.encode(), split=(1 / 3, 2 / 3, 0.0))
    found = corpus.summary["overlap"]["validation"]
    assert found["lines"] == SAMPLE
    assert found["share"] == pytest.approx(0.5, abs=0.01)
