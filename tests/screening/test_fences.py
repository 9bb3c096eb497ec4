"""What was injected is cut out of what comes back, however it was bent, and cannot break out of its fence."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screening.fences import NAMES, escape, has_fences, strip_fences

OPEN, CLOSE = "<retrieved_memory>", "</retrieved_memory>"
PIECES = [
    *(f"<{name}>" for name in NAMES), *(f"</{name}>" for name in NAMES), "<retrieved_memory id='1'>",
    "< / RETRIEVED_MEMORY >", "<retrieved", "_memory>", "<memory:", "context>", "<", ">", "/", " ", "text",
]  # fmt: skip
bent = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)


@pytest.mark.parametrize(("text", "left"), [
    (f"a{OPEN}b{CLOSE}c", "ac"),
    (f"{OPEN}b{CLOSE}", ""),
    (f"a{OPEN}b", "a"),
    (f"a{CLOSE}b", "ab"),
    (f"a{OPEN}b{OPEN}c{CLOSE}d{CLOSE}e", "ae"),
    (f"a{OPEN}b{CLOSE}c{OPEN}d{CLOSE}e", "ace"),
    ("a<memory:context>\n- [note] b\n</memory:context>c", "ac"),
    ("a<memory:sessions>b</memory:sessions>c", "ac"),
    ("a<Retrieved_Memory source='x'>b</ retrieved_memory >c", "ac"),
    ("a<retrieved_memory", "a"),
    ("<retrieved_memories>", "<retrieved_memories>"),
    ("<memory:contextual>", "<memory:contextual>"),
    ("the word retrieved_memory", "the word retrieved_memory"),
    ("a < b > c", "a < b > c"),
    ("", ""),
])  # fmt: skip
def test_blocks_are_removed_with_what_is_in_them(text, left):
    assert strip_fences(text) == left
    assert has_fences(text) == (text != left)


@given(bent)
def test_no_fence_is_left(text):
    assert not has_fences(strip_fences(text))


@given(bent)
def test_removing_twice_is_removing_once(text):
    once = strip_fences(text)
    assert strip_fences(once) == once


@given(bent)
def test_text_that_is_escaped_neither_opens_nor_closes_a_fence(text):
    assert not has_fences(escape(text))
    whole = f"before{OPEN}{escape(text)}{CLOSE}after"
    assert strip_fences(whole) == "beforeafter"


def test_different_texts_stay_different_when_escaped():
    assert len({escape(text) for text in ("<", "&lt;", "&amp;lt;", "&")}) == 4


@pytest.mark.parametrize("piece", ["<", "< ", OPEN, CLOSE, OPEN + CLOSE, "<retrieved_memory ", "<memory:"])
def test_a_megabyte_takes_seconds_and_no_minutes(piece):
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    strip_fences(text)
    assert time.process_time() - began < 20
