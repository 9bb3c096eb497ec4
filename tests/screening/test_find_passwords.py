"""Every password that a person tells is found, not only the first of a sentence."""

import time

import pytest

from screening.sensitive import find_sensitive, mask
from tests.screening.password_examples import HARMLESS, SEVERAL, TOLD

HOSTILE = [
    "my passwords are tulip88 and tulip99 ", "my passwords are tulip88 ", "password: x1x1 and ", ", tulip88",
    "password for a is tulip88 and for ", "PIN 4821 or 4822 ", "pin 4821 or ", "password: a b c d ",
    "change my password from ", "change password from tulip88 to ", "tulip88 as password ", "a as ",
    "the password you ", "user/pass is a/", "mysql -p", "mysql -u root -ptulip88 ", "the code to my ",
    "the code to my safe is ", "password is tulip88 but i changed it to ", "password? ", "my depression ",
]  # fmt: skip


@pytest.mark.parametrize(("text", "secrets"), SEVERAL, ids=[text for text, _ in SEVERAL])
def test_every_one_of_several_is_found(text, secrets):
    masked = mask(text, find_sensitive(text))
    assert [one for one in secrets if one in masked] == []


@pytest.mark.parametrize(("text", "secret"), TOLD, ids=[text for text, _ in TOLD])
def test_one_that_is_told_otherwise_is_found(text, secret):
    assert secret not in mask(text, find_sensitive(text))


@pytest.mark.parametrize("text", HARMLESS)
def test_talk_of_passwords_is_left_alone(text):
    assert find_sensitive(text) == ()


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("my passwords are tulip88 and tulip99", "my passwords are [secret] and [secret]"),
        ("Change my password from tulip88 to tulip99.", "Change my password from [secret] to [secret]."),
        ("my passwords are [secret] and tulip99", "my passwords are [secret] and [secret]"),
        ("my password is tulip88 and I live in Oslo", "my password is [secret] and I live in Oslo"),
        ("my password is tulip88, my name is Ada", "my password is [secret], my name is Ada"),
        ("my PIN is 4821 and I was born in 1985", "my PIN is [secret] and I was born in 1985"),
        ("my password is tulip88. See you at 10am.", "my password is [secret]. See you at 10am."),
    ],
)
def test_what_is_said_beside_them_stays(text, masked):
    assert mask(text, find_sensitive(text)) == masked


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_them_takes_seconds_and_no_minutes(piece):
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    find_sensitive(text)
    assert time.process_time() - began < 20
