import json
import timeit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from providers.local import tokens
from providers.local.tokens import CLS, MAX_TOKENS, SEP, TextEncoder
from providers.local.weights import TOKENIZER, find_model_folder


@pytest.fixture(scope="module")
def encoder() -> TextEncoder:
    return TextEncoder(find_model_folder() / TOKENIZER)


@pytest.fixture(scope="module")
def plain() -> Tokenizer:
    """The same tokenizer without windows: it reads the whole text and then cuts."""
    tokenizer = Tokenizer.from_file(str(find_model_folder() / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def test_the_window_is_the_one_the_model_was_published_with() -> None:
    config = json.loads((find_model_folder() / "sentence_bert_config.json").read_text())
    assert config["max_seq_length"] == MAX_TOKENS


def test_an_empty_text_is_two_special_tokens(encoder: TextEncoder) -> None:
    assert encoder.encode("") == [CLS, SEP]


@pytest.mark.parametrize(
    "text",
    [
        "word " * 200_000,
        "记忆" * 50_000,
        "a" * 200_000,
        " " * 100_000 + "after a long silence",
        "e\u0301" * 50_000,
        "x " * 100 + "\x00" * 40_000 + " end [SEP] " * 300,
        "[SEP]" * 5_000,
        '{"key":"value","n":[1,2,3]},' * 2_000,
    ],
    ids=["words", "han", "one word", "spaces", "accents", "controls", "special", "json"],
)
def test_a_long_text_reads_as_if_all_of_it_had_been_read(
    encoder: TextEncoder, plain: Tokenizer, text: str
) -> None:
    assert encoder.encode(text) == plain.encode(text).ids


@settings(max_examples=300, deadline=None)
@given(
    parts=st.lists(
        st.sampled_from(
            ["memory", "[SEP]", "[MASK]", " ", "\u0301", "\x00", "é", "记", ".", "ab", "🚀", "\n"]
        )
        | st.text(max_size=5),
        min_size=1,
        max_size=40,
    ),
    repeats=st.integers(1, 80),
    window=st.integers(1, 900),
)
def test_the_width_of_the_window_never_shows(
    encoder: TextEncoder, plain: Tokenizer, parts: list[str], repeats: int, window: int
) -> None:
    text = "".join(parts) * repeats
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "FIRST_WINDOW", window)
        patch.setattr(tokens, "WINDOW_GROWTH", 2)
        assert encoder.encode(text) == plain.encode(text).ids


@pytest.mark.parametrize("special", ["[CLS]", "[MASK]"])
def test_a_window_that_ends_inside_a_special_token_is_widened(
    encoder: TextEncoder, plain: Tokenizer, special: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in range(248, 260):
        text = "a " * words + special + " b" * 50
        for cut in range(len(special)):
            monkeypatch.setattr(tokens, "FIRST_WINDOW", 2 * words + cut)
            assert encoder.encode(text) == plain.encode(text).ids


def test_a_megabyte_of_words_costs_no_more_than_its_beginning(encoder: TextEncoder) -> None:
    text = "memory server " * 75_000
    seconds = min(timeit.repeat(lambda: encoder.encode(text), number=1, repeat=5))
    assert seconds < 0.1  # measured: 1 ms; all of it: 700 ms
