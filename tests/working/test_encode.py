"""What goes into the Redis hash comes out again, whatever JSON it was."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from working.memory import decode, encode

# What the parser lets through: no NUL, no half of a surrogate pair, finite numbers.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
NUMBERLIKE = st.from_regex(r"\s*[-0-9.eE+]+\s*", fullmatch=True)
BROKEN = ["NaN", "Infinity", "-Infinity", "nul", "[", "{", '"', " ", "", "0x1", "1_000", "[" * 5_000]
JSON_LOOKALIKES = VALUES.map(json.dumps) | NUMBERLIKE | st.sampled_from(["null", "true", '""', *BROKEN])


def same(one: object, other: object) -> bool:
    """Equal, types included: `1 == 1.0 == True` in Python, not in JSON."""
    return json.dumps(one) == json.dumps(other)


@settings(max_examples=400, deadline=None)
@given(VALUES)
def test_every_json_value_comes_back(value):
    assert same(decode(encode(value)), value)


@settings(max_examples=400, deadline=None)
@given(JSON_LOOKALIKES)
def test_a_string_that_looks_like_json_comes_back_as_the_string(text):
    assert decode(encode(text)) == text


@settings(max_examples=200, deadline=None)
@given(TEXT)
def test_no_text_from_elsewhere_makes_decode_fail(raw):
    decode(raw)


@pytest.mark.parametrize("text", ["Grüße", "two words", "order #4411", "+49 30 1234"])
def test_plain_strings_stand_in_redis_as_they_are(text):
    assert encode(text) == text


def test_objects_are_compact_and_keep_their_letters():
    assert encode({"name": "Grüße", "n": [1, 2.5, None, True]}) == '{"name":"Grüße","n":[1,2.5,null,true]}'
