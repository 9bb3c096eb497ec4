from datetime import timedelta

import pytest
from django.utils import timezone

from tenants.errors import Forbidden
from tests.working.conversation import EARLY
from working.listing import list_sessions
from working.sessions import open_session
from working.types import SessionAddress


def begin(caller, name, *, at=EARLY, user_id=None, **named):
    address = SessionAddress(name, user_id=user_id)
    return open_session(caller=caller, address=address, now=at, **named)[0]


def names(sessions):
    return [one.external_id for one in sessions]


def pages(caller, size, **filters):
    found, before = [], None
    while page := list_sessions(caller=caller, limit=size, before=before, **filters):
        found += page
        before = (page[-1].last_activity_at, page[-1].id)
        yield page


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_pages_show_every_session_once_newest_activity_first_also_at_equal_times(caller, size):
    for n in range(20):
        begin(caller, f"s{n}", at=EARLY + timedelta(seconds=n // 5))
    seen = [one for page in pages(caller, size) for one in page]
    assert sorted(names(seen)) == sorted(f"s{n}" for n in range(20))
    assert [one.last_activity_at for one in seen] == sorted((o.last_activity_at for o in seen), reverse=True)


def test_a_session_that_begins_while_a_client_pages_does_not_shift_the_rest(caller):
    for n in range(6):
        begin(caller, f"s{n}", at=EARLY + timedelta(seconds=n))
    turning = pages(caller, 2)
    seen = names(next(turning))
    begin(caller, "late", at=timezone.now())
    seen += names([one for page in turning for one in page])
    assert seen == [f"s{n}" for n in reversed(range(6))]


def test_filters_are_combined(caller):
    begin(caller, "a", user_id="u1", agent_id="ada", project="apollo")
    begin(caller, "b", user_id="u1", agent_id="bob", project="apollo")
    begin(caller, "c", user_id="u2", agent_id="ada")

    def found(**filters):
        return sorted(names(list_sessions(caller=caller, limit=10, **filters)))

    assert found() == ["a", "b", "c"]
    assert found(user_id="u1") == ["a", "b"]
    assert found(agent_id="ada") == ["a", "c"]
    assert found(user_id="u1", agent_id="ada") == ["a"]
    assert found(project="apollo", agent_id="bob") == ["b"]
    assert found(active=True) == ["a", "b", "c"]
    assert found(active=False) == []


def test_a_bound_key_lists_only_what_it_reaches_and_may_not_ask_for_more(acme):
    begin(acme.caller, "a", user_id="u1")
    begin(acme.caller, "b", user_id="u2")
    bound = acme.with_key(user_id="u1").caller
    assert names(list_sessions(caller=bound, limit=10)) == ["a"]
    with pytest.raises(Forbidden):
        list_sessions(caller=bound, limit=10, user_id="u2")


def test_globex_does_not_see_the_sessions_of_acme(acme, globex):
    begin(acme.caller, "a")
    assert list_sessions(caller=globex.caller, limit=10) == []
