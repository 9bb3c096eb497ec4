"""Secrets, cards and health are found as people and tools write them, and what looks like them is not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screening.sensitive import MOST, find_sensitive, mask
from tests.screening.examples import CARDS, HARMLESS, HEALTH, SECRETS

EXAMPLES = [
    *(("card", *one) for one in CARDS),
    *(("secret", *one) for one in SECRETS),
    *(("health", *one) for one in HEALTH),
]
PIECES = [text for _category, text, _left in EXAMPLES] + HARMLESS + [
    " ", "\n", ", ", ".", ":", "=", "\"", "'", "[secret]", "[card]", "[health]", "password", "is", "I have",
    "-", "4", "1111", "ä", "😀", "\u200b", "\ud800", "\x00",
]  # fmt: skip
mixed = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=6).map("".join)
HOSTILE = [
    "a", "aB1", "4", "4 ", "4444 ", "411 ", "4111111111111111", "4111 1111 1111 1111 ", "DE89 3704 ", "-",
    "password is ", "password: x ", "passwordpassword", "my password for ", "pw=", "mnemonic:a ", "pin 12 ",
    "key ", "api key ", "token=a1b2c3d4e5f6 ", "eyJ", "eyJaaaaaaaa.", "sk-", "AKIA", "a://b:", "a://b:c@",
    "-----BEGIN PRIVATE " + "KEY-----", "-----BEGIN ", "I have ", "I have cancer ", "my wife ", "cancer ",
    "I was diagnosed ", "I was diagnosed with x ", "Anna ", "I take 20 mg ", "card number ", "visa ends ",
    "last four digits of my ", "****", "x", "curl ", "login a/", "a is my password ", "ssn ",
    "123-45-6789 ", "card 4", "4111 1 1 1 1 1 1 1 1 1 1 1 1 ", "4242 is the end of my ", "Kim's MRI showed ",
    "my pass is ",
    "last4: ", "\"", "[", "[secret]", "ä", "\u200b",
    "\ud800", "é password é ist ",
]  # fmt: skip


@pytest.mark.parametrize(("category", "text", "left"), EXAMPLES, ids=[text for _, text, _ in EXAMPLES])
def test_what_is_sensitive_is_found_and_masked(category, text, left):
    assert left in text
    found = find_sensitive(text)
    assert category in {one.category for one in found}
    masked = mask(text, found)
    assert left not in masked
    assert f"[{category}]" in masked


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_it_is_left_alone(text):
    assert find_sensitive(text) == ()
    assert mask(text, ()) == text


def test_there_are_enough_examples():
    assert len({text for _, text, _ in EXAMPLES}) >= 80
    assert len(set(HARMLESS)) >= 80


@pytest.mark.parametrize(
    ("category", "text", "left"), EXAMPLES[::3], ids=[text for _, text, _ in EXAMPLES[::3]]
)
def test_what_stands_around_does_not_hide_it(category, text, left):
    for frame in ("Hi!\n{}\nBye.", "note:\n\n  {}\n", "Ünï çödé 😀. {}", "One. Two. {}"):
        whole = frame.format(text)
        found = find_sensitive(whole)
        assert category in {one.category for one in found}, whole
        assert left not in mask(whole, found)


@given(mixed)
def test_findings_lie_inside_the_text_in_order_and_apart(text):
    end = 0
    for one in find_sensitive(text):
        assert end <= one.start < one.end <= len(text)
        end = one.end


@given(mixed)
def test_nothing_is_found_in_what_was_masked(text):
    assert find_sensitive(mask(text, find_sensitive(text))) == ()


@given(mixed, mixed)
def test_masking_changes_nothing_before_the_first_finding(before, after):
    text = before + after
    found = find_sensitive(text)
    if len(found) == 1 and mask(text, found).count("[") == text.count("[") + 1:
        assert mask(text, found).startswith(f"{text[: found[0].start]}[{found[0].category}]")


@pytest.mark.parametrize("piece", HOSTILE, ids=ascii)
def test_a_megabyte_of_anything_takes_seconds_and_no_minutes(piece):
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    find_sensitive(text)
    assert time.process_time() - began < 20


def test_of_very_many_findings_the_last_reaches_to_the_end():
    text = "my password is hunter2. " * (MOST + 10)
    found = find_sensitive(text)
    assert len(found) == MOST
    assert found[-1].end == len(text)
    assert "hunter2" not in mask(text, found)
