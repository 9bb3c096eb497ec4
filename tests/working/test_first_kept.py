"""Which turns stay as they were said. Pure."""

import pytest

from working.window import TurnSize, first_kept

USER, TOOL = "user", "tool"


def turns(roles, tokens=1):
    names = {"u": "user", "a": "assistant", "t": "tool", "s": "system"}
    return [TurnSize(seq, names[role], tokens) for seq, role in enumerate(roles, 1)]


def kept(roles, *, exchanges=6, most_turns=None, most_tokens=None, tokens=1):
    given = turns(roles, tokens)
    first = first_kept(given, exchanges=exchanges, most_turns=most_turns, most_tokens=most_tokens)
    return roles[first:]


@pytest.mark.parametrize(("said", "limits", "stays"), [
    ("uauaua", {"exchanges": 2}, "uaua"),
    ("uauaua", {"exchanges": 9}, "uauaua"),
    ("uauaua", {"most_turns": 5}, "uaua"),
    ("uauaua", {"most_turns": 4}, "uaua"),
    ("uauaua", {"most_turns": 3}, "ua"),
    ("uauaua", {"most_turns": 0}, "ua"),
    ("uauaua", {"most_tokens": 4}, "uaua"),
    ("uauaua", {"most_tokens": 4, "tokens": 2}, "ua"),
    ("uauaua", {"most_turns": 5, "exchanges": 1}, "ua"),
    ("uauatatata", {"most_turns": 4}, "uatatata"),
    ("sauaua", {"exchanges": 2}, "uaua"),
    ("saua", {"exchanges": 9}, "ua"),
    ("aaaa", {"exchanges": 2}, "aa"),
    ("atatat", {"most_turns": 3}, "at"),
    ("tt", {"exchanges": 1}, "tt"),
    ("", {}, ""),
])  # fmt: skip
def test_the_newest_exchanges_within_every_limit_and_at_least_one(said, limits, stays):
    assert kept(said, **limits) == stays
