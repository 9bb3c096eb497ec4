"""What somebody calls their own is about their health; the trade and figures of speech are not."""

import time

import pytest

from screening.sensitive import find_sensitive, mask

OWN = [
    ("my depression is back", "depression"),
    ("my ADHD makes it hard to focus", "ADHD"),
    ("because of my anxiety I avoid calls", "anxiety"),
    ("her asthma got worse", "asthma"),
    ("My wife's diabetes is under control", "diabetes"),
    ("my chronic migraines keep me awake", "migraines"),
    ("I need to refill my insulin.", "insulin"),
    ("my chemo starts on Monday", "chemo"),
    ("thanks to my OCD, it is tidy", "OCD"),
]
HARMLESS = [
    "my diabetes app is slow",
    "my depression dataset is balanced",
    "my cancer research paper is late",
    "my impostor syndrome is back",
    "my insulin pump firmware is open source",
    "my laptop's virus infection is gone",
    "my computer virus infection is gone",
    "our malware infection was removed",
    "my pain is the build",
    "my surgery of the codebase went well",
    "my stroke is too short for freestyle",
    "my lithium batteries are empty",
    "my memory leak is back",
    "our hospital project makes it hard",
    "my condition is that we ship on Friday",
]


@pytest.mark.parametrize(("text", "left"), OWN)
def test_what_somebody_calls_their_own_is_found(text, left):
    found = find_sensitive(text)
    assert {one.category for one in found} == {"health"}
    assert left not in mask(text, found)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_sounds_like_it_is_left_alone(text):
    assert find_sensitive(text) == ()


@pytest.mark.parametrize("piece", ["my depression ", "my cancer is ", "my wife's ", "my a-b disease "])
def test_a_megabyte_of_it_takes_seconds_and_no_minutes(piece):
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    find_sensitive(text)
    assert time.process_time() - began < 20
