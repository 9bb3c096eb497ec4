"""JSON values are masked beside the names that they go by, and keep their shape."""

import time

import pytest

from screening.sensitive import find_sensitive
from screening.values import mask_value, text_of, told

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
    ({"card_last4": "4242", "port": 4242}, {"card_last4": "[card]", "port": 4242}),
    ({"cardLast4": 4242}, {"cardLast4": "[card]"}),
    ({"pin_code": 1234}, {"pin_code": "[secret]"}),
    ({"pin": ["1", "2", "3", "4"]}, {"pin": ["[secret]"] * 4}),
    ({"ssn": 123456789}, {"ssn": "[secret]"}),
    ({"diagnosis": "diabetes"}, {"diagnosis": "[health]"}),
    ({"allergies": ["peanuts", "penicillin"]}, {"allergies": ["peanuts", "[health]"]}),
    (["4111", "1111", "1111", "1111"], ["[card]"] * 4),
    ({"card": [4111, 1111, 1111, 1111]}, {"card": ["[card]"] * 4}),
])  # fmt: skip
def test_what_is_sensitive_in_it_is_masked(value, masked):
    assert mask_value(value) == masked
    assert bool(find_sensitive(told(value))) == (value != masked)
    assert not find_sensitive(told(masked))


@pytest.mark.parametrize("value", [
    {"diagnosis": "memory leak"}, {"pin": 13}, {"password_policy": "strict"},
    {"prices": [4111, 1111, 1111, 1111]},
    {"condition": "x > 3"}, {"conditions": ["new", "used"]}, {"health": "ok"}, {"topic": "diabetes research"},
    {"tags": ["password", "auth2"]}, {"token_count": 128000}, {"has_password": "yes"},
    {"card": "Trello 4242"},
    {"version": ["1", "2", "3"]}, {"last4_releases": 4},
])  # fmt: skip
def test_a_name_that_only_looks_like_it_says_nothing(value):
    assert find_sensitive(told(value)) == ()
    assert mask_value(value) == value


def test_a_password_is_seen_in_the_text_of_a_value():
    assert text_of({"password": "hunter2"}) == '{"password": "hunter2"}'
    assert (text_of({}), text_of(None)) == ("", "")


def test_one_among_ten_thousand_is_found_soon():
    value = {f"name{number}": f"value {number}" for number in range(10_000)} | {"password": "hunter2"}
    began = time.process_time()
    masked = mask_value(value)
    assert time.process_time() - began < 20
    assert masked == value | {"password": "[secret]"}
