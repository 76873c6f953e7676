import json
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.data.tokenizer import Tokenizer, load_tokenizer, tokenizers
from zoo.data.tokenizer.bpe import Bpe
from zoo.data.tokenizer.stream import Stream
from zoo.errors import UserError
from zoo.option import Option

NAMES = tokenizers.names()
CAFE = ["naïve café", "naïve cafe\u0301", "nai\u0308ve cafe\u0301"]
HARD = "👩‍👩‍👧‍👦 e\u0301 漢字かな 🏳️‍🌈 ä\u0323\u0302 naïve\n"
NASTY = '#version: 0.2\n\ta\x00b\r\nĠ Ċ "quoted" \\n \u2028\x85\n\n\n  #version: 0.2\n' * 20


def trained(name: str, text: str | bytes, **keys: Any) -> Tokenizer:
    tokenizer = tokenizers.build(Option(name, keys))
    tokenizer.train([text.encode() if isinstance(text, str) else text])
    return tokenizer


BPE = trained("bpe", (HARD + NASTY + "the cat sat on the mat. ") * 20, vocabulary=400)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text", [HARD, NASTY, *CAFE, "a\nb\n", "a\r\nb\r\n", "a\rb\r", "a\nb\r\nc\rd", " ", "\n" * 99, ""]
)
def test_decoding_undoes_encoding_and_keeps_line_ends(name: str, text: str) -> None:
    tokenizer = trained(name, text + " x")
    ids = tokenizer.encode(text.encode())
    assert ids.dtype == np.int64
    assert tokenizer.decode(ids) == text


@given(st.text(max_size=200))
def test_bpe_encodes_any_text_without_loss(text: str) -> None:
    assert BPE.decode(BPE.encode(text.encode())) == text


@given(
    st.lists(st.one_of(st.text(max_size=5), st.sampled_from([" ", "  ", "\n", " the", " cat", ".", "9"]))).map("".join)
)
def test_bpe_encodes_as_the_library_does_though_it_remembers_chunks(text: str) -> None:
    assert isinstance(BPE, Bpe)
    assert BPE.encode(text.encode()).tolist() == BPE._model.encode(text, add_special_tokens=False).ids


@given(st.binary(max_size=200))
def test_bytes_round_trips_any_bytes(data: bytes) -> None:
    tokenizer = tokenizers.build(Option("bytes"))
    assert tokenizer.to_bytes(tokenizer.encode(data)) == data


@given(st.text(max_size=200))
def test_text_never_becomes_a_mark(text: str) -> None:
    for tokenizer in (BPE, trained("chars", "abc"), trained("bytes", "")):
        assert (tokenizer.encode(text.encode()) < tokenizer.text_ids).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_three_marks_follow_the_text_ids_and_decode_to_nothing(name: str) -> None:
    tokenizer = trained(name, HARD + "na")
    special, n = tokenizer.special, tokenizer.text_ids
    assert (special.start, special.end, special.mask) == (n, n + 1, n + 2)
    assert tokenizer.vocabulary == n + 3 == len(tokenizer.byte_lengths)
    assert tokenizer.decode([special.start, *tokenizer.encode(b"na"), special.mask, special.end]) == "na"


@pytest.mark.parametrize("name", NAMES)
def test_an_id_that_does_not_exist_is_refused_with_the_id_and_the_size(name: str) -> None:
    tokenizer = trained(name, HARD)
    for wrong in (tokenizer.vocabulary, 100_000, -1):
        with pytest.raises(UserError, match=rf"no id {wrong}: its vocabulary of {tokenizer.vocabulary} "):
            tokenizer.decode([0, wrong])


@pytest.mark.parametrize("name", NAMES)
@given(
    left=st.text("a\u00e4漢7٣ \n._", min_size=1, max_size=6), right=st.text("b\u00e4漢7٣ \n._", min_size=1, max_size=6)
)
def test_where_a_token_always_ends_both_sides_are_encoded_as_if_alone(name: str, left: str, right: str) -> None:
    tokenizer = BPE if name == "bpe" else trained(name, "a ab ä 漢 7 77 ٣ . _ \n" * 2)
    apart = [*tokenizer.encode(left.encode()), *tokenizer.encode(right.encode())]
    if tokenizer.ends_between(left[-1], right[0]):
        assert tokenizer.encode((left + right).encode()).tolist() == apart


def test_words_end_but_inside_letters_and_digits_and_behind_a_space() -> None:
    tokenizer = trained("words", "a")
    pairs = ["ab", "a1", "1a", "12", " a", " 1", "a ", "a.", ".a", "..", "  ", "_a", "\na"]
    assert [pair for pair in pairs if not tokenizer.ends_between(*pair)] == ["ab", "12", " a", " 1"]


def test_ids_may_be_a_list_an_array_or_a_tensor() -> None:
    ids = BPE.encode(b"the cat")
    assert BPE.decode(ids) == BPE.decode(ids.tolist()) == BPE.decode(torch.from_numpy(ids)) == "the cat"
    assert BPE.decode([]) == ""


def test_a_character_unseen_in_training_becomes_the_unknown_id_of_unknown_length() -> None:
    tokenizer = trained("chars", "hello")
    ids = tokenizer.encode("hé😀o".encode())
    unknown = tokenizer.text_ids - 1
    assert ids.tolist() == [1, unknown, unknown, 3]
    assert tokenizer.decode(ids) == "h\ufffd\ufffdo"
    assert tokenizer.byte_lengths.tolist() == [1, 1, 1, 1, -1, 0, 0, 0]


def test_chars_is_the_sorted_alphabet_of_the_training_text() -> None:
    assert trained("chars", "banana é").texts == [b" ", b"a", b"b", b"n", "é".encode(), "\ufffd".encode()]


@pytest.mark.parametrize("name", ["chars", "bpe"])
def test_text_that_is_not_utf8_is_refused_with_its_place(name: str) -> None:
    tokenizer = trained(name, "abc")
    with pytest.raises(UserError, match=r"not UTF-8 at byte 3.*tokenizer=bytes"):
        tokenizer.encode(b"abc\xff")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", [*CAFE, "plain ASCII, with  spaces\n", HARD])
def test_the_bytes_of_the_tokens_sum_to_the_bytes_of_the_text(name: str, text: str) -> None:
    tokenizer = trained(name, text * 3)
    assert tokenizer.byte_lengths[tokenizer.encode(text.encode())].sum() == len(text.encode())


@pytest.mark.parametrize("name", NAMES)
def test_a_reloaded_tokenizer_gives_identical_ids(name: str) -> None:
    tokenizer = trained(name, NASTY + HARD)
    saved = tokenizer.to_json()
    again = load_tokenizer(json.dumps(json.loads(saved)))
    assert type(again) is type(tokenizer)
    assert again.encode((NASTY + HARD).encode()).tolist() == tokenizer.encode((NASTY + HARD).encode()).tolist()
    assert again.texts == tokenizer.texts
    assert again.byte_lengths.tolist() == tokenizer.byte_lengths.tolist()
    assert again.to_json() == saved
    assert again.fingerprint == tokenizer.fingerprint


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"name": "chars"}',
        '{"name": "chars", "characters": "ba"}',
        '{"name": "chars", "characters": "\\ud800"}',
        '{"name": "bpe", "vocabulary": 300, "model": {}}',
        '{"name": "bpe", "vocabulary": 300}',
        '{"name": "os.system", "command": "true"}',
    ],
)
def test_a_damaged_or_foreign_tokenizer_file_is_refused(damaged: str) -> None:
    with pytest.raises(UserError):
        load_tokenizer(damaged)


@pytest.mark.parametrize("name", NAMES)
@given(st.data())
@settings(max_examples=25)
def test_the_joined_stream_is_the_decoded_whole(name: str, data: st.DataObject) -> None:
    tokenizer = BPE if name == "bpe" else trained(name, HARD)
    ids = data.draw(
        st.one_of(
            st.just(tokenizer.encode(HARD.encode()).tolist()),
            st.lists(st.integers(0, tokenizer.vocabulary - 1), max_size=40),
        )
    )
    stream = Stream(tokenizer)
    pushed = [stream.push([i]) for i in ids]
    assert "".join(pushed) + stream.close() == tokenizer.decode(ids)


def test_a_stream_shows_no_replacement_mark_but_for_an_unfinished_end() -> None:
    tokenizer = trained("bytes", "")
    ids = tokenizer.encode("é👩‍👧".encode())
    stream = Stream(tokenizer)
    shown = [stream.push([i]) for i in ids[:-1].tolist()]
    assert "".join(shown) == "é👩\u200d"
    assert stream.close() == "\ufffd"


@pytest.mark.parametrize(
    "text",
    [
        " ".join(str(i * i) for i in range(200_000))[:1_000_000].encode(),
        b"\n" * 5_000_000,
        bytes(np.random.default_rng(0).choice(np.frombuffer(b"ACGT", np.uint8), 1_000_000)),
    ],
    ids=["one line", "newlines only", "one word"],
)
def test_bpe_learns_from_one_huge_line(text: bytes) -> None:
    tokenizer = trained("bpe", text, vocabulary=300)
    assert tokenizer.text_ids > 256
    ids = tokenizer.encode(text)
    assert len(ids) < len(text) * 0.8
    assert max(map(len, tokenizer.texts)) <= 64
    assert tokenizer.to_bytes(ids) == text


def test_bpe_gives_as_many_ids_as_asked_or_as_the_text_has_pairs() -> None:
    text = " ".join(str(i * i * 7) for i in range(5000))
    assert trained("bpe", text, vocabulary=500).text_ids == 500
    assert trained("bpe", "ab", vocabulary=500).text_ids == 256


def test_bpe_learns_the_same_twice() -> None:
    text = " ".join(str(i * i * 7) for i in range(5000))
    assert trained("bpe", text).to_json() == trained("bpe", text).to_json()


def test_bpe_with_fewer_ids_than_bytes_is_refused() -> None:
    with pytest.raises(UserError, match=r"tokenizer\.vocabulary=255.*256"):
        tokenizers.build(Option("bpe", {"vocabulary": 255}))


@pytest.mark.parametrize("name", ["chars", "bpe"])
def test_a_vocabulary_is_never_built_from_nothing(name: str) -> None:
    with pytest.raises(UserError, match="no text to learn from"):
        tokenizers.build(Option(name)).train([])
