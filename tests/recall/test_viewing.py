"""Whoever is shown what was said in a session has the right to write, and is noted."""

from dataclasses import replace
from uuid import uuid4

import pytest
from django.utils import timezone

from recall.viewing import (
    evict_from,
    view_ledger,
    view_session,
    view_transcript,
    view_window,
)
from tenants.audit import list_entries
from tenants.errors import Forbidden, NotFound
from tests.console.remembered import episode, slot, talk, tell, turn

WORDS = {
    "session.view_transcript": lambda caller, row: view_transcript(caller=caller, row_id=row),
    "session.view_window": lambda caller, row: view_window(caller=caller, row_id=row, now=timezone.now()),
}
ANY = {
    **WORDS,
    "session": lambda caller, row: view_session(caller=caller, row_id=row),
    "ledger": lambda caller, row: view_ledger(caller=caller, row_id=row),
    "evict": lambda caller, row: evict_from(caller=caller, row_id=row, item_key="a:b", now=timezone.now()),
}


def noted(member):
    return [one.action for one in list_entries(caller=member.caller, limit=99) if one.action in WORDS]


@pytest.mark.parametrize("action", WORDS)
def test_each_viewing_is_noted(acme, action):
    session = talk(acme.caller, turn("user", "hello"), user="ann")
    for _time in range(2):
        WORDS[action](acme.caller, session.id)
    assert noted(acme) == [action] * 2


@pytest.mark.parametrize("action", WORDS)
def test_a_key_that_only_reads_is_shown_no_words_and_nothing_is_noted(acme, action):
    session = talk(acme.caller, turn("user", "hello"), user="ann")
    with pytest.raises(Forbidden):
        WORDS[action](replace(acme.caller, scopes=frozenset({"read", "privacy"})), session.id)
    assert noted(acme) == []


@pytest.mark.parametrize("view", ANY)
def test_a_key_is_shown_its_own_agents_projects_and_persons_sessions_only(acme, globex, view):
    session = talk(acme.caller, turn("user", "hello"), user="ann", agent_id="bot", project="house")
    ANY[view](replace(acme.caller, user_id="ann", agent_id="bot", project="house"), session.id)
    for bound in ({"agent_id": "other"}, {"project": "other"}):
        with pytest.raises(Forbidden):
            ANY[view](replace(acme.caller, **bound), session.id)
    for caller in (replace(acme.caller, user_id="bob"), globex.caller):
        with pytest.raises(NotFound):
            ANY[view](caller, session.id)
    with pytest.raises(NotFound):
        ANY[view](acme.caller, uuid4())


def test_what_was_told_stands_at_the_words_that_it_was_looked_up_with(acme):
    session = talk(
        acme.caller, turn("user", "first"), turn("assistant", "yes"), turn("user", "second"), user="ann"
    )
    late, early = episode(acme.caller, "late"), episode(acme.caller, "early")
    tell(acme.caller, session, query="second", episode=str(late.id))
    tell(acme.caller, session, query="first", episode=str(early.id))
    tell(acme.caller, session, query="", entity=str(slot(acme.caller, "Rome")))
    page = view_transcript(caller=acme.caller, row_id=session.id)
    told = [[one.text for one in row.told] for row in page.events]
    assert told == [["early"], [], ["late", "city: Rome"]]
    assert [(one.injection.rank, one.injection.score, one.tokens > 0) for one in page.events[0].told] == [
        (1, 0.75, True)
    ]


def test_a_key_bound_to_a_person_is_shown_no_others_memories(acme):
    session = talk(acme.caller, turn("user", "hello"), user="ann")
    others = episode(acme.caller, "Bob's secret", user_id="bob")
    tell(acme.caller, session, query="hello", episode=str(others.id))
    (told,) = view_ledger(caller=replace(acme.caller, user_id="ann"), row_id=session.id).told
    assert (told.memory_id, told.text) == (str(others.id), "")


def test_what_was_told_stands_on_one_page_only(acme):
    session = talk(acme.caller, *[turn("user", f"line {n}") for n in range(1, 51)], user="ann")
    for query, text in (("line 51", "for the next"), ("", "for the last")):
        tell(acme.caller, session, query=query, episode=str(episode(acme.caller, text).id))
    talk(acme.caller, *[turn("user", f"line {n}") for n in range(51, 61)], user="ann")
    pages = [view_transcript(caller=acme.caller, row_id=session.id, **place) for place in ({}, {"after": 50})]
    told = [{row.event.seq: row.told[0].text for row in page.events if row.told} for page in pages]
    assert told == [{50: "for the last"}, {51: "for the next"}]
