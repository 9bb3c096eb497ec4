"""The end of a session whose transcript comes with it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from episodic.models import Episode
from recall.sessions import end_session
from recall.transcripts import Message, end_with_transcript
from tenants.agents.agents import put_agent
from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope
from tests.working.conversation import S, append, at_once, logged, turn
from working.sessions import access_session, open_session
from working.types import SessionAddress

FIRST, LAST = "Deploy the new memory service.", "Can you verify the rollout?"
TALK = [
    Message("user", FIRST),
    Message("assistant", "Done. [tool_call: bash]"),
    Message("tool", "ok"),
    Message("user", LAST),
    Message("assistant", "It is fine."),
]
SUMMARY = f'Session with 4 messages. Started: "{FIRST}" — Ended: "{LAST}"'


@pytest.fixture
def session(caller):
    return open_session(caller=caller, address=S, project="orders", now=timezone.now()).session


def end(caller, messages=TALK, address=S):
    return end_with_transcript(caller=caller, address=address, messages=messages, now=timezone.now())


def said(caller):
    return [(event.role, event.content) for event in logged(caller)]


def summary(caller):
    return access_session(caller=caller, address=S).summary


def episodes(caller):
    with scope(caller.tenant_id):
        return list(Episode.objects.filter(tenant_id=caller.tenant_id).order_by("created_at"))


def test_the_summary_is_worded_as_the_contract_says(caller, session):
    ended = end(caller)
    assert (ended.session_id, ended.summary, ended.message_count) == ("s", SUMMARY, 5)
    assert summary(caller) == SUMMARY
    assert access_session(caller=caller, address=S).ended_at is not None
    assert [episode.text for episode in episodes(caller)] == [SUMMARY]


def test_the_messages_are_in_the_log_in_their_order(caller, session):
    end(caller)
    assert said(caller) == [(one.role, one.content) for one in TALK]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([Message("assistant", "Hello.")], "Session with 1 messages."),
        (
            [Message("system", "x"), Message("user", "a"), Message("tool", "y")],
            'Session with 1 messages. Started: "a" — Ended: "a"',
        ),
        (
            [Message("user", "é" * 201), Message("user", "z" * 300)],
            f'Session with 2 messages. Started: "{"é" * 200}" — Ended: "{"z" * 200}"',
        ),
        ([Message("user", ""), Message("user", "b")], 'Session with 2 messages. Started: "" — Ended: "b"'),
    ],
)
def test_only_user_and_assistant_are_counted_and_only_the_user_is_quoted(caller, session, messages, expected):
    ended = end(caller, messages)
    assert (ended.summary, ended.message_count) == (expected, len(messages))


@pytest.mark.parametrize("role", ["tool", "system", "developer"])
def test_a_transcript_in_which_nobody_speaks_counts_nobody(caller, session, role):
    assert end(caller, [Message(role, "x")]).message_count == 1
    assert len(logged(caller)) == 1


def test_a_role_that_is_not_known_is_logged_but_is_no_turn(caller, session):
    end(caller, [Message("developer", "x"), Message("user", "a")])
    odd, spoken = logged(caller)
    assert (odd.role, odd.content, odd.metadata) == ("", "x", {"role": "developer"})
    assert spoken.role == "user"


def test_ending_it_again_with_the_same_changes_nothing(caller, session):
    first = end(caller, [*TALK, Message("developer", "x")])
    for _time in range(2):
        assert end(caller, [*TALK, Message("developer", "x")]) == first
    assert len(logged(caller)) == 6
    assert len(episodes(caller)) == 1


def test_ending_it_again_with_more_replaces_the_summary(caller, session):
    end(caller)
    more = [*TALK, Message("user", "And now?"), Message("assistant", "Now as well.")]
    ended = end(caller, more)
    assert ended.summary == f'Session with 6 messages. Started: "{FIRST}" — Ended: "And now?"'
    assert (summary(caller), ended.message_count) == (ended.summary, 7)
    assert said(caller) == [(one.role, one.content) for one in more]


def test_what_was_said_twice_is_logged_twice(caller, session):
    end(caller, [Message("user", "Go on.")] * 3)
    assert said(caller) == [("user", "Go on.")] * 3
    end(caller, [Message("user", "Go on.")] * 4)
    assert len(said(caller)) == 4


def test_turns_that_were_logged_meanwhile_are_not_logged_again(caller, session):
    append(caller, turn("user", FIRST), turn("assistant", TALK[1].content))
    ended = end(caller)
    assert sorted(said(caller)) == sorted((one.role, one.content) for one in TALK)
    assert ended.summary == summary(caller) == SUMMARY


def test_when_all_was_logged_meanwhile_the_summary_is_the_transcripts(caller, session):
    append(caller, *(turn(one.role, one.content) for one in TALK if one.role != "tool"))
    assert end(caller, [one for one in TALK if one.role != "tool"]).summary == SUMMARY


def test_without_messages_the_log_is_summarised(caller, session):
    append(caller, turn("user", FIRST), turn("assistant", "Done."), turn("user", LAST))
    ended = end(caller, [])
    assert ended.summary == f'Session with 3 messages. Started: "{FIRST}" — Ended: "{LAST}"'
    assert ended.message_count == 3


def test_a_session_in_which_nothing_was_said_has_no_summary(caller, session):
    ended = end(caller, [])
    assert (ended.summary, ended.message_count, summary(caller), episodes(caller)) == ("", 0, "", [])


def test_ending_it_again_without_messages_keeps_the_summary(caller, session):
    end(caller)
    assert end(caller, []).summary == summary(caller) == SUMMARY


def test_ended_natively_before_it_is_not_summarised_again(caller, session):
    append(caller, *(turn(one.role, one.content) for one in TALK if one.role != "tool"))
    end_session(caller=caller, address=S, now=timezone.now())
    assert end(caller, [one for one in TALK if one.role != "tool"]).summary == SUMMARY
    assert len(episodes(caller)) == 1


def test_of_an_unknown_session_nothing_is_kept(caller):
    assert end(caller).summary == SUMMARY
    assert (end(caller).message_count, end(caller, []).summary) == (5, "")
    with pytest.raises(NotFound):
        access_session(caller=caller, address=S)
    assert episodes(caller) == []


def test_globex_cannot_end_acmes_session(acme, globex, session):
    end(globex.caller)
    assert access_session(caller=acme.caller, address=S).ended_at is None


def test_a_key_of_another_user_ends_nothing(acme):
    address = SessionAddress("hers", "ann")
    open_session(caller=acme.caller, address=address, now=timezone.now())
    end(acme.with_key(user_id="bob").caller, address=SessionAddress("hers"))
    assert access_session(caller=acme.caller, address=address).ended_at is None
    ended = end(acme.with_key(user_id="ann").caller, address=SessionAddress("hers"))
    assert ended.summary == access_session(caller=acme.caller, address=address).summary == SUMMARY


def test_an_agent_that_wants_no_summary_gets_none(caller, session):
    admin = Caller(caller.tenant_id, caller.tenant, "k", frozenset({"admin"}))
    memory = {"project": "orders", "autoSummarize": False}
    put_agent(caller=admin, name="ada", document={"memory": memory}, now=timezone.now())
    ended = end(caller)
    assert (ended.summary, ended.message_count, summary(caller), episodes(caller)) == ("", 5, "", [])
    assert len(said(caller)) == 5
    assert access_session(caller=caller, address=S).ended_at is not None


def test_many_ends_at_once_leave_one_log_and_one_summary(caller, session):
    answers = at_once(*(lambda: end(caller) for _ in range(8)))
    assert {answer.summary for answer in answers} == {SUMMARY}
    assert said(caller) == [(one.role, one.content) for one in TALK]
    assert len(episodes(caller)) == 1
    assert summary(caller) == SUMMARY


def test_the_next_session_of_that_id_goes_on(caller, session):
    end(caller)
    append(caller, turn("user", "Later."))
    assert access_session(caller=caller, address=S).ended_at is None
    ended = end(caller, [*TALK, Message("user", "Later.")])
    assert ended.summary == f'Session with 5 messages. Started: "{FIRST}" — Ended: "Later."'


def test_the_moment_of_the_end_is_the_callers(caller, session):
    now = timezone.now() + timedelta(minutes=5)
    end_with_transcript(caller=caller, address=S, messages=TALK, now=now)
    assert access_session(caller=caller, address=S).ended_at == now
