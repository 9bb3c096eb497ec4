"""Contract row 5: simple strings stand in Redis as they are, and everything comes back as it went in."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.aegis import stores
from working.memory import decode, encode

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
NUMBERS = st.integers() | st.integers(-(10**400), 10**400) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
LOOKS_LIKE_JSON = [
    "", " ", "123", "-0", "0123", "1e5", "1e999", "-1e999", "1.0", " 1 ", "1 ", "\t1", "true", "True",
    "false", "null", "None", "nul", "NaN", "Infinity", "-Infinity", "{}", "[]", "[1,2", '"', '"quoted"',
    '"\\ud800"', "'single'", "\ufeff1", "\u0661", "1_000", "9" * 4_301, "0." + "1" * 5_000, '{"a":1,"a":2}',
    "\n", "\u2028", "💡", "[" * 50_000, "[" * 99 + "]" * 99,
]  # fmt: skip


def same(one: object, other: object) -> bool:
    """Equal also in what JSON tells apart and Python does not: 1, 1.0 and true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.parametrize("text", LOOKS_LIKE_JSON, ids=lambda text: ascii(text[:20]))
def test_a_string_comes_back_as_that_string(acme, put, text):
    assert put({"value": text}).json()["data"] == {"value": text}
    assert acme.http.get("/working-memory/c").json() == {"value": text}


def test_a_string_of_brackets_comes_back_at_every_depth(acme, put):
    """Also where Python's own stack decides whether the text can be parsed."""
    texts = {str(depth): "[" * depth + "]" * depth for depth in range(700, 1_010)}
    for names in (list(texts)[:200], list(texts)[200:]):
        put({name: texts[name] for name in names})
    assert acme.http.get("/working-memory/c").json() == texts


def test_reader_and_writer_may_stand_at_other_depths_of_the_stack():
    """Python refuses to parse brackets nearer to its limit; the reader has more room here than the writer."""

    def deep(frames: int, text: str) -> str:
        return encode(text) if frames == 0 else deep(frames - 1, text)

    for depth in range(500, 1_000, 10):
        text = "[" * depth + "]" * depth
        assert decode(deep(200, text)) == text


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -1, 1.0, 1e300, 5e-324, 10**400, 2**64, [], {}, [None], {"": {"": []}}, [[[[1]]]]],
)
def test_a_value_comes_back_with_its_type(acme, put, value):
    put({"value": value})
    assert same(acme.http.get("/working-memory/c").json(), {"value": value})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.dictionaries(TEXT, JSON | st.sampled_from(LOOKS_LIKE_JSON), max_size=5))
def test_any_value_comes_back_as_it_went_in(long_lived, data):
    long_lived.http.delete("/working-memory/c")
    long_lived.http.put("/working-memory/c", json={"data": data})
    assert same(long_lived.http.get("/working-memory/c").json(), data)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(value=JSON)
def test_the_json_text_of_any_value_stays_text(long_lived, value):
    text = json.dumps(value, ensure_ascii=False)
    long_lived.http.put("/working-memory/t", json={"data": {"value": text}})
    assert long_lived.http.get("/working-memory/t").json() == {"value": text}


def test_simple_strings_stand_raw_and_the_rest_as_json(acme, put):
    put({"plain": "free text", "number": 7, "digits": "7", "list": [1, "é"]})
    assert stores.raw(acme, "c") == {
        "plain": "free text",
        "number": "7",
        "digits": '"7"',
        "list": '[1,"é"]',
    }
