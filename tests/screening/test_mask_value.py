"""JSON values are masked beside the names that they go by, and keep their shape."""

import time

import pytest

from screening.values import mask_value, text_of

CARD = 4111111111111111


@pytest.mark.parametrize(("value", "masked"), [
    ({}, {}),
    ({"a": [1, None, True, "x"], "b": {"c": 2.5}}, {"a": [1, None, True, "x"], "b": {"c": 2.5}}),
    ({"password": "hunter2", "user": "bob"}, {"password": "[secret]", "user": "bob"}),
    ({"paid": CARD, "sum": 12}, {"paid": "[card]", "sum": 12}),
    ({"a": {"b": ["fine", "my password is hunter2"]}}, {"a": {"b": ["fine", "my password is [secret]"]}}),
    (["I have diabetes", "I have time"], ["I have [health]", "I have time"]),
    ("my password is hunter2", "my password is [secret]"),
    ({f"card {CARD}": 1}, {"card [card]": 1}),
])  # fmt: skip
def test_what_is_sensitive_in_it_is_masked(value, masked):
    assert mask_value(value) == masked


def test_a_password_is_seen_in_the_text_of_a_value():
    assert text_of({"password": "hunter2"}) == '{"password": "hunter2"}'
    assert (text_of({}), text_of(None)) == ("", "")


def test_one_among_ten_thousand_is_found_soon():
    value = {f"name{number}": f"value {number}" for number in range(10_000)} | {"password": "hunter2"}
    began = time.process_time()
    masked = mask_value(value)
    assert time.process_time() - began < 1
    assert masked == value | {"password": "[secret]"}
