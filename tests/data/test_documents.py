import itertools

from hypothesis import example, given
from hypothesis import strategies as st

from zoo.data.document import Document, character_start, cut, lines

CHUNKS = st.lists(st.one_of(st.binary(max_size=30), st.text(max_size=20).map(str.encode)), max_size=8)


@given(CHUNKS, st.integers(4, 20))
def test_pieces_are_the_text_in_order_and_never_longer_than_the_limit(chunks: list[bytes], limit: int) -> None:
    pieces = list(cut(chunks, limit))
    assert b"".join(pieces) == b"".join(chunks)
    assert all(0 < len(piece) <= limit for piece in pieces)


@given(CHUNKS, st.integers(4, 20))
def test_pieces_do_not_depend_on_how_the_text_was_read(chunks: list[bytes], limit: int) -> None:
    assert list(cut(chunks, limit)) == list(cut([b"".join(chunks)], limit))


@given(st.text(alphabet="aé漢😀\r\n", max_size=200), st.integers(4, 20))
@example("aaa\r\naaa", 4)
def test_pieces_of_text_are_text_and_end_at_a_line_end_where_there_is_one(text: str, limit: int) -> None:
    pieces = list(cut([text.encode()], limit))
    for piece in pieces:
        piece.decode()
    for piece in pieces[:-1]:
        assert piece.endswith((b"\n", b"\r")) or b"\n" not in piece
    assert not any(a.endswith(b"\r") and b.startswith(b"\n") for a, b in itertools.pairwise(pieces))


@given(st.text(alphabet="aé漢😀", max_size=20), st.integers(0, 80))
def test_a_border_is_moved_back_between_two_characters(text: str, position: int) -> None:
    data = text.encode()
    start = character_start(data, min(position, len(data)))
    assert min(position, len(data)) - 3 <= start <= position
    data[:start].decode()
    data[start:].decode()


@given(st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n"]), max_size=30), st.integers(4, 9))
def test_lines_end_with_lf_crlf_or_cr(words: list[bytes], limit: int) -> None:
    text = b"".join(words)
    assert list(lines(cut([text], limit))) == text.splitlines()


@given(st.binary(max_size=10), st.integers(1, 4))
def test_only_a_leading_byte_order_mark_is_dropped(data: bytes, chunk: int) -> None:
    marked = b"\xef\xbb\xbf" + data
    document = Document("marked", lambda: [marked[i : i + chunk] for i in range(0, len(marked), chunk)])
    assert b"".join(document.pieces()) == data
