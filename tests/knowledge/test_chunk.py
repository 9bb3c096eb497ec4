"""Pieces: none too large, none lost, cut where the text's structure allows."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.reading.blocks import Block, Limits
from knowledge.reading.chunking import LONGEST_HEADING, MOST_CHARACTERS, MOST_TOKENS, Piece, chunk
from knowledge.reading.reader import MARKDOWN, TEXT, count_tokens, read_document

SENTENCE = "The support team answers every ticket about billing within two working days of its arrival. "
LIMITS = Limits(characters=6_000_000, pages=10)
READS = 254  # tokens that the local model reads


def markdown(text: str) -> tuple[Piece, ...]:
    return read_document(text.encode(), MARKDOWN, LIMITS).pieces


def plain(text: str) -> tuple[Piece, ...]:
    return read_document(text.encode(), TEXT, LIMITS).pieces


def numbered(count: int, line: str) -> str:
    return "".join(line.format(n=number) for number in range(count))


def in_order(words: list[str], pieces: tuple[Piece, ...]) -> bool:
    """Whether the pieces hold the words one after the other."""
    told = iter(" ".join(piece.text for piece in pieces).split())
    return all(word in told for word in words)


def test_a_short_document_is_one_piece():
    assert plain("One.\n\nTwo.") == (Piece("One.\n\nTwo."),)


def test_a_piece_knows_the_headings_that_it_stands_under():
    body = SENTENCE * 8
    pieces = markdown(
        f"# Handbook\n\n{body}\n\n## Refunds\n\n{body}\n\n### Abroad\n\n{body}\n\n## Returns\n\n{body}"
    )
    assert [piece.heading for piece in pieces] == [
        "Handbook", "Handbook > Refunds", "Handbook > Refunds > Abroad", "Handbook > Returns"
    ]  # fmt: skip
    assert pieces[1].text.startswith("## Refunds\n\nThe support team")


def test_small_sections_share_a_piece_under_what_they_have_in_common():
    (piece,) = markdown("# Words\n\n## Apple\n\nA fruit.\n\n## Brick\n\nA stone.\n\n## Cloud\n\nWater.")
    assert piece.heading == "Words"
    assert "## Apple\n\nA fruit.\n\n## Brick" in piece.text


def test_a_heading_stays_with_what_stands_under_it():
    long = SENTENCE * 11
    pieces = markdown(f"# A\n\n{long}\n\n# B\n\n{long}")
    assert [piece.text.split("\n")[0] for piece in pieces] == ["# A", "# B"]


@pytest.mark.parametrize(
    "block",
    [
        numbered(20, "- item {n} of the list of things\n"),
        "| a | b |\n|---|---|\n" + numbered(18, "| row {n} | value |\n"),
        "```python\n" + numbered(15, "total += price[{n}]\n\n") + "```\n",
        SENTENCE * 9,
    ],
    ids=["list", "table", "code", "paragraph"],
)
def test_what_belongs_together_stays_whole(block):
    pieces = markdown(f"{SENTENCE * 4}\n\n{block.strip()}\n\n{SENTENCE * 6}")
    assert sum(block.strip() in piece.text for piece in pieces) == 1
    assert len(pieces) > 1


@pytest.mark.parametrize(
    ("line", "first"),
    [("- item {n} of the list\n", "- "), ("| row {n} | value |\n", "| "), ("total += price[{n}]\n", "total")],
    ids=["list", "table", "code"],
)
def test_what_is_too_long_is_cut_between_its_lines_without_an_overlap(line, first):
    text = numbered(200, line)
    above = {"| ": "| a | b |\n|---|---|\n", "total": "```\n"}.get(first, "")
    pieces = markdown(above + text)
    assert len(pieces) > 3
    assert all(piece.text.startswith(first) for piece in pieces[1:])
    assert "\n".join(piece.text for piece in pieces).strip() == (above + text).strip()


def test_a_paragraph_that_is_too_long_is_cut_between_sentences_with_a_small_overlap():
    sentences = [f"Sentence number {n} tells of one more thing that is good to know." for n in range(60)]
    pieces = plain(" ".join(sentences))
    assert len(pieces) > 2
    for piece, following in pairwise(pieces):
        assert piece.text.endswith("to know.")
        assert following.text.startswith("Sentence number")
        shared = set(piece.text.split(". ")) & set(following.text.split(". "))
        assert 1 <= len(shared) <= 2


def test_pieces_are_of_a_good_size():
    pieces = plain("\n\n".join([SENTENCE * 3] * 40))
    assert all(150 <= len(piece.text.split()) <= 230 for piece in pieces[:-1])


@pytest.mark.parametrize(
    "text",
    ["x" * 50_000, "." * 50_000, "这是一个没有空格的文档" * 2_000, "ภาษาไทย" * 3_000, "한국어문서" * 3_000,
     "a " * 50_000, "a\n" * 20_000, "a\n\n" * 5_000, "# a\n" * 5_000, "# " + "a" * 20_000 + "\n\nb",
     "🦊" * 5_000, "a. " * 20_000, "> " * 5_000 + "a", "[" * 5_000, "1. a\n" * 5_000,
     "\u200b" * 5_000 + " a"],
    ids=lambda text: ascii(text[:7]),
)  # fmt: skip
def test_strange_texts_become_pieces_that_the_model_can_read(text):
    for pieces in (plain(text), markdown(text)):
        assert_readable(pieces)
        assert len(pieces) <= len(text) / 50 + 2


def assert_readable(pieces: tuple[Piece, ...]) -> None:
    for piece in pieces:
        assert len(piece.text) <= MOST_CHARACTERS
        assert len(piece.heading) <= LONGEST_HEADING
        assert count_tokens(f"{piece.heading}\n{piece.text}") < READS
        assert piece.text.strip()


WORDS = st.sampled_from(
    ["a", "Refund.", "policy", "x" * 120, "—", "ﬁrst", "日本語", "don't", "#", "-", "1.", "|", "`"]
)
TEXTS = st.lists(
    st.tuples(WORDS, st.sampled_from([" ", "\n", "\n\n", "\n# ", "\n- ", "\n```\n", ". "])), max_size=400
)


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_no_word_is_lost(parts):
    text = "".join(word + gap for word, gap in parts)
    if not text.strip():
        return
    for pieces in (plain(text), markdown(text)):
        assert_readable(pieces)
        assert in_order(text.split(), pieces)


KINDS = st.sampled_from(["paragraph", "list", "table", "code"])
BLOCKS = st.lists(st.tuples(KINDS, st.integers(1, 500), st.integers(0, 6)), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(BLOCKS)
def test_every_block_is_found_again_in_its_order(sizes):
    blocks = []
    for number, (kind, size, level) in enumerate(sizes):
        words = " ".join(f"w{number}x{n}" for n in range(size))
        blocks.append(Block("heading", words, words, level) if level and size < 9 else Block(kind, words))
    pieces = tuple(chunk(blocks, count_tokens))
    assert_readable(pieces)
    assert in_order(" ".join(block.text for block in blocks).split(), pieces)


def test_the_limits_leave_the_model_room_for_its_own_marks():
    assert MOST_TOKENS < READS


@pytest.mark.parametrize(
    "text",
    [(SENTENCE * 8 + "\n\n") * 700, SENTENCE * 5_600, "x" * 500_000, "." * 500_000, "a " * 250_000],
    ids=["paragraphs", "one paragraph", "one word", "dots", "short words"],
)
def test_the_time_grows_with_the_text_and_no_faster(text):
    def seconds(part: str) -> float:
        begun = time.process_time()
        plain(part)
        return time.process_time() - begun

    seconds(text[:10_000])
    few, many = min(seconds(text[: len(text) // 8]) for _ in range(3)), seconds(text)
    assert many < 8 * few * 3 + 0.2
