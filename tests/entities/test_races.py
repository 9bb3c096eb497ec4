"""Very many writers of one user's slots: one current row each, a history without gaps, and no error."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

import pytest
from django.db import connections
from django.utils import timezone

from episodic import entities
from episodic.entities import confirm_entity, delete_entity, pin_entity
from tenants.errors import Conflict, NotFound
from tests.entities.facts import KIM, decide, rows, say
from tests.working.conversation import at_once

WRITERS = 32


@pytest.fixture(autouse=True)
def _a_connection_each(_database: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As several processes have together; and no vectors, which would have them come one after another."""
    monkeypatch.setattr(entities, "try_embed", lambda *_args, **_named: None)
    pool = connections["default"].pool
    before = pool.max_size
    pool.resize(1, WRITERS + 8)
    yield
    pool.resize(1, before)


def assert_one_line(found):
    """Each value held from where the one before ended, the last one to this day."""
    held = [row for row in found if row.valid_to != row.valid_from and row.status != "pending"]
    assert [row.status for row in held] == ["superseded"] * (len(held) - 1) + ["current"]
    for before, after in pairwise(held):
        assert (before.valid_to, before.superseded_by) == (after.valid_from, after.id)
        assert before.valid_from < before.valid_to
    assert held[-1].valid_to is None


def test_many_writers_of_one_slot_leave_one_current_row_and_the_history_of_all(caller):
    now = timezone.now()
    clocks = [now + timedelta(milliseconds=37 * (n % 9 - 4)) for n in range(WRITERS)]
    done = at_once(*(lambda n=n: say(caller, n, now=clocks[n]) for n in range(WRITERS)))
    assert Counter(one.action for one in done) == {"created": 1, "updated": WRITERS - 1}
    found = rows(caller)
    assert sorted(row.value for row in found) == list(range(WRITERS)), "no value is lost"
    assert_one_line(found)


def test_many_writers_of_one_value_leave_one_row(caller):
    done = at_once(*(lambda: say(caller, "Turin") for _n in range(WRITERS)))
    assert Counter(one.action for one in done) == {"created": 1, "confirmed_again": WRITERS - 1}
    assert len(rows(caller)) == 1


def test_many_guesses_leave_one_that_waits(caller):
    done = at_once(
        *(lambda n=n: say(caller, n, key="email", extracted=True) for n in range(WRITERS - 1)),
        lambda: say(caller, "known", key="phone"),
    )
    assert Counter(one.action for one in done) == {"pending": WRITERS - 1, "created": 1}
    assert Counter(row.status for row in rows(caller, "email")) == {"pending": 1, "superseded": WRITERS - 2}


def test_no_more_slots_come_to_be_than_are_allowed(caller):
    decide(caller, limits={"entities_per_user": 10})

    def write(n):
        try:
            return say(caller, n, key=f"k{n}").action
        except Conflict:
            return "refused"

    done = at_once(*(lambda n=n: write(n) for n in range(WRITERS)))
    assert Counter(done) == {"created": 10, "refused": WRITERS - 10}


def test_all_verbs_at_once_leave_a_slot_in_order(caller):
    say(caller, "known", key="email")

    def tolerant(change, **named):
        try:
            change(caller=caller, user_id=KIM, key="email", now=timezone.now(), **named)
        except NotFound:
            return

    at_once(
        *(lambda n=n: say(caller, n, key="email") for n in range(8)),
        *(lambda n=n: say(caller, f"guess {n}", key="email", extracted=True) for n in range(8)),
        *(lambda: tolerant(confirm_entity) for _n in range(6)),
        *(lambda: tolerant(pin_entity) for _n in range(4)),
        *(lambda: tolerant(delete_entity, hard=False) for _n in range(6)),
    )
    say(caller, "last", key="email")
    found = rows(caller, "email")
    assert [row.value for row in found if row.status == "current"] == ["last"]
    spans = [(row.valid_from, row.valid_to) for row in found if row.valid_to != row.valid_from]
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
