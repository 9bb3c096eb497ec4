"""What an agent is told at each turn, in which order, how much, and what not twice."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from recall.context import LONGEST_QUERY, ContextQuery, fetch_context
from recall.transcripts import Message, end_with_transcript
from tenants.agents.agents import put_agent
from tenants.caller import Caller
from tenants.errors import Forbidden
from tests.ledger import told as ledger
from tests.observations.notes import EARLY, delete, edit, embed, fill, note
from working.sessions import access_session, open_session
from working.types import SessionAddress


def context(caller, text="", *, project="orders", **named):
    return fetch_context(
        caller=caller, query=ContextQuery(project=project, text=text, **named), now=timezone.now()
    )


def contents(found):
    return [one.content for one in found.observations]


def methods(found):
    return [one.method for one in found.observations]


def told(caller, session_id="talk"):
    return ledger.read(caller, SessionAddress(session_id))


def ended(caller, session_id, *, project="orders", said="Hello.", now=None):
    """A session with a summary."""
    now = now or timezone.now()
    address = SessionAddress(session_id)
    open_session(caller=caller, address=address, project=project, now=now)
    return end_with_transcript(caller=caller, address=address, messages=[Message("user", said)], now=now)


class TestOrder:
    @pytest.fixture
    def notes(self, caller):
        """Each arm finds what the others do not."""
        texts = {
            "newest": "Nothing to do with it.",
            "meaning": "RabbitMQ had an outage when it was rebooted.",
            "word": "The queue of visitors was long.",
            "all": "The payments queue lost messages after the broker restarted.",
            "old": "Something else entirely.",
        }
        for n, text in enumerate(texts.values()):
            note(caller, text, title="t", now=EARLY - timedelta(days=n))
        embed(caller)
        return texts

    def test_all_words_then_words_and_meaning_then_the_newest(self, caller, notes):
        found = context(caller, "broker queue messages lost")
        assert contents(found)[0] == notes["all"]
        assert set(contents(found)[1:3]) == {notes["word"], notes["meaning"]}
        assert contents(found)[3:] == [notes["newest"], notes["old"]]
        assert methods(found) == ["bm25", "hybrid", "hybrid", "recency", "recency"]
        ranks = [one.rank for one in found.observations]
        assert ranks[0] < 0 > ranks[1]
        assert ranks[3:] == [0.0, 0.0]

    def test_none_is_told_twice(self, caller, notes):
        for text in ("broker queue messages lost", "queue", "t", "zzz", ""):
            ids = [one.id for one in context(caller, text, limit=50).observations]
            assert len(ids) == len(set(ids)) == len(notes)

    def test_what_all_words_find_fills_the_limit_first(self, caller, notes):
        assert contents(context(caller, "queue messages", limit=1)) == [notes["all"]]
        assert methods(context(caller, "queue", limit=2)) == ["bm25", "bm25"]

    def test_without_a_query_the_newest_are_told(self, caller, notes):
        for text in ("", " \n", "???"):
            found = context(caller, text, limit=2)
            assert (contents(found), methods(found)) == ([notes["newest"], notes["meaning"]], ["recency"] * 2)
            assert found.query_used == text

    def test_a_topic_comes_first(self, caller, notes):
        note(caller, "By topic.", topic_key="ops/broker", now=EARLY - timedelta(days=99))
        found = context(caller, "ops/broker")
        assert (contents(found)[0], methods(found)[0]) == ("By topic.", "topic_key")

    def test_a_question_is_answered(self, caller, notes):
        note(caller, "Set REST_POOL_SIZE to 40.", title="REST pool size raised", now=EARLY - timedelta(9))
        found = context(caller, "how do I set the pool size for REST?", limit=1)
        assert contents(found) == ["Set REST_POOL_SIZE to 40."]

    def test_without_the_model_words_and_the_newest_are_told(self, caller, notes, model_away):
        assert methods(context(caller, "broker queue messages lost")) == ["bm25", "hybrid"] + ["recency"] * 3

    def test_what_is_in_the_trash_is_not_told(self, caller, notes):
        found = context(caller, "queue messages")
        delete(caller, found.observations[0].id)
        assert notes["all"] not in contents(context(caller, "queue messages", limit=50))


class TestLimits:
    def test_content_is_cut_off_after_300_characters_and_titles_are_not(self, caller):
        note(caller, "é" * 300, title="T" * 500)
        note(caller, "é" * 301)
        long, short = context(caller).observations
        assert (long.content, short.content) == ("é" * 300 + "...", "é" * 300)
        assert short.title == "T" * 500

    def test_the_query_is_cut_off_after_500_characters(self, caller):
        note(caller, "needle")
        found = context(caller, "x" * (LONGEST_QUERY - 7) + " needle and more")
        assert found.query_used == "x" * 493 + " needle"
        assert context(caller, "y" * 496 + " needle").query_used.endswith(" nee")

    def test_a_query_that_was_cut_within_a_character_is_tolerated(self, caller):
        note(caller, "needle")
        broken = b"needle \xe2\x82".decode("utf-8", "replace")
        assert methods(context(caller, broken)) == ["bm25"]

    @pytest.mark.parametrize(("asked", "expected"), [(None, 5), (0, 0), (1, 1), (7, 7), (50, 9)])
    def test_five_are_told_unless_another_number_is_asked_for(self, caller, asked, expected):
        fill(caller, [f"n{n}" for n in range(9)])
        assert len(context(caller, limit=asked).observations) == expected
        assert len(context(caller, "n1", limit=asked).observations) == expected

    def test_without_a_project_nothing_is_told(self, caller):
        note(caller, "Blue.")
        ended(caller, "past")
        for project in (None, "", " "):
            found = context(caller, "blue", project=project)
            assert (found.observations, found.sessions, found.query_used) == ((), (), "blue")


class TestAgents:
    @pytest.fixture
    def agent(self, acme):
        """Declares the agent `ada` of the project `orders`."""
        fill(acme.caller, [f"n{n}" for n in range(30)])

        def declare(**memory):
            admin = Caller(acme.tenant.id, acme.tenant.slug, "k", frozenset({"admin"}))
            memory = {"project": "Orders"} | memory
            put_agent(caller=admin, name="ada", document={"memory": memory}, now=timezone.now())

        return declare

    def test_its_limit_is_what_is_told_unless_another_is_asked_for(self, acme, agent):
        agent(contextLimit=12)
        for caller in (acme.caller, acme.with_key(agent_id="ada").caller):
            assert len(context(caller).observations) == 12
            assert len(context(caller, limit=3).observations) == 3

    def test_its_own_key_is_told_no_more_than_its_limit(self, acme, agent):
        agent(contextLimit=12)
        assert len(context(acme.with_key(agent_id="ada").caller, limit=20).observations) == 12
        assert len(context(acme.caller, limit=20).observations) == 20

    def test_a_limit_of_zero_is_none_for_anybody(self, acme, agent):
        """An unmodified runtime asks for five, whatever is declared."""
        agent(contextLimit=0)
        ended(acme.caller, "past")
        for caller in (acme.caller, acme.with_key(agent_id="ada").caller):
            for asked in (None, 5):
                found = context(caller, "n1", limit=asked)
                assert found.observations == ()

    def test_its_project_is_meant_when_none_is_named(self, acme, agent):
        agent()
        bound = acme.with_key(agent_id="ada").caller
        assert len(context(bound, project=None).observations) == 5
        with pytest.raises(Forbidden):
            context(bound, project="billing")


class TestSessions:
    def test_the_three_newest_summaries_are_told(self, caller):
        for n in range(5):
            ended(caller, f"s{n}", said=f"Say {n}.", now=EARLY + timedelta(hours=n))
        open_session(
            caller=caller, address=SessionAddress("open"), project="orders", now=EARLY + timedelta(9)
        )
        ended(caller, "other", project="billing", now=EARLY + timedelta(days=9))
        found = context(caller, "whatever", limit=0)
        assert [one.session_id for one in found.sessions] == ["s4", "s3", "s2"]
        assert found.sessions[0].summary == ('Session with 1 messages. Started: "Say 4." — Ended: "Say 4."')

    @pytest.mark.parametrize("project", ["orders", "Orders", " ORDERS "])
    def test_the_case_of_the_project_does_not_count(self, caller, project):
        ended(caller, "past", project="OrderS")
        assert len(context(caller, project=project).sessions) == 1

    def test_a_key_of_one_user_is_told_of_that_users_sessions_and_observations_only(self, acme):
        for name in ("ann", "bob"):
            theirs = acme.with_key(user_id=name).caller
            ended(theirs, "past", said=f"I am {name}.")
            note(theirs, f"{name}'s note")
        found = context(acme.with_key(user_id="ann").caller, "note")
        assert [one.summary.count("ann") for one in found.sessions] == [2]
        assert contents(found) == ["ann's note"]

    def test_globex_is_told_nothing_of_acme(self, acme, globex):
        ended(acme.caller, "past")
        note(acme.caller, "acme", scope="global")
        assert context(globex.caller, "acme") == context(globex.caller, "acme", project="Orders")
        assert context(globex.caller, "acme").render() == ""


class TestScope:
    def test_global_ones_are_told_in_every_project(self, caller):
        note(caller, "shared word", project="billing", scope="global")
        note(caller, "billing word", project="billing")
        for text in ("word", "", "zzz"):
            assert contents(context(caller, text)) == ["shared word"]

    def test_a_scope_narrows_every_arm(self, caller):
        note(caller, "shared word", scope="global")
        note(caller, "own word")
        for text in ("word", ""):
            assert contents(context(caller, text, scope="project")) == ["own word"]
            assert contents(context(caller, text, scope="global")) == ["shared word"]


class TestLedger:
    def test_what_a_session_is_told_is_entered_in_its_ledger(self, caller):
        one = note(caller, "Blue.").observation
        ended(caller, "past")
        past = access_session(caller=caller, address=SessionAddress("past"))
        context(caller, "blue", session_id="talk")
        assert set(told(caller)) == {f"observation:{one.id}", f"session:{past.id}"}

    def test_without_a_session_nothing_is_entered(self, caller):
        note(caller, "Blue.")
        assert contents(context(caller, dedupe=True)) == contents(context(caller, dedupe=True)) == ["Blue."]
        assert get_redis_connection().keys(f"skill:ledger:*{caller.tenant_id.hex}*") == []

    def test_only_what_is_told_is_entered(self, caller):
        rows = fill(caller, [f"n{n}" for n in range(9)])
        context(caller, limit=2, session_id="talk")
        assert set(told(caller)) == {f"observation:{row.id}" for row in rows[-2:]}

    def test_without_dedupe_it_is_told_again(self, caller):
        note(caller, "Blue.")
        for _turn in range(2):
            assert contents(context(caller, session_id="talk")) == ["Blue."]

    def test_what_was_told_is_left_out_and_the_next_best_takes_its_place(self, caller):
        ended(caller, "past")
        fill(caller, [f"n{n}" for n in range(7)])
        first = context(caller, limit=3, session_id="talk", dedupe=True)
        assert (contents(first), len(first.sessions)) == (["n6", "n5", "n4"], 1)
        second = context(caller, limit=3, session_id="talk", dedupe=True)
        assert (contents(second), second.sessions) == (["n3", "n2", "n1"], ())
        assert contents(context(caller, limit=3, session_id="talk", dedupe=True)) == ["n0"]
        assert context(caller, limit=3, session_id="talk", dedupe=True).render() == ""
        assert len(context(caller, limit=3, session_id="other", dedupe=True).observations) == 3

    def test_a_long_session_is_told_everything_in_time(self, caller):
        fill(caller, [f"word {n}" for n in range(60)])
        seen = []
        for _turn in range(12):
            seen += contents(context(caller, "word", limit=5, session_id="talk", dedupe=True))
        assert sorted(seen) == sorted(f"word {n}" for n in range(60))

    @pytest.mark.parametrize("changes", [{"content": "Green."}, {"title": "Other"}, {"type": "bugfix"}])
    def test_what_says_something_else_by_now_is_told_again(self, caller, changes):
        one = note(caller, "Blue.").observation
        context(caller, session_id="talk", dedupe=True)
        edit(caller, one.id, **changes)
        again = context(caller, session_id="talk", dedupe=True)
        assert [item.id for item in again.observations] == [one.id]
        assert context(caller, session_id="talk", dedupe=True).observations == ()

    def test_a_session_that_went_on_is_told_again(self, caller):
        ended(caller, "past", said="One.")
        assert len(context(caller, session_id="talk", dedupe=True).sessions) == 1
        assert len(context(caller, session_id="talk", dedupe=True).sessions) == 0
        ended(caller, "past", said="Two.")
        assert len(context(caller, session_id="talk", dedupe=True).sessions) == 1

    def test_what_was_told_without_dedupe_counts_too(self, caller):
        note(caller, "Blue.")
        context(caller, session_id="talk")
        assert context(caller, session_id="talk", dedupe=True).observations == ()

    def test_other_items_of_the_ledger_are_in_nobodys_way(self, caller):
        one = note(caller, "Blue.").observation
        ledger.mark(caller, "skill:x", address=SessionAddress("talk"))
        ledger.mark(caller, f"observation:{one.id}", "somebody else's mark", SessionAddress("talk"))
        assert contents(context(caller, session_id="talk", dedupe=True)) == ["Blue."]

    def test_after_the_end_of_the_session_it_is_told_again(self, caller):
        note(caller, "Blue.")
        context(caller, session_id="talk", dedupe=True)
        ended(caller, "talk")
        assert contents(context(caller, session_id="talk", dedupe=True)) == ["Blue."]

    def test_a_key_bound_to_a_project_in_other_spelling_is_told_too(self, acme):
        note(acme.caller, "Blue.")
        bound = acme.with_key(project="Orders").caller
        assert contents(context(bound, session_id="talk", dedupe=True)) == ["Blue."]
        assert context(bound, session_id="talk", dedupe=True).observations == ()


def test_the_text_for_the_prompt_holds_what_is_told(caller):
    note(caller, "Use the blue one.")
    ended(caller, "past")
    assert context(caller, "blue").render() == (
        "<memory:sessions>\n"
        '- Session with 1 messages. Started: "Hello." — Ended: "Hello."\n'
        "</memory:sessions>\n"
        "<memory:context>\n"
        "- [decision] Cluster: Use the blue one.\n"
        "</memory:context>"
    )
