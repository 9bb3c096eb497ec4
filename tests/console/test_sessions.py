"""Sessions looked at: their state, and for editors, noted each time, what was said."""

import re
from uuid import uuid4

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from tenants.audit import list_entries
from tenants.models import Role
from tenants.subjects import pseudonym
from tests.console.remembered import HOSTILE, ODD, episode, slot, talk, tell, turn
from tests.console.senses import violations
from working.checkpoints import Precondition, write_checkpoint
from working.memory import put_fields
from working.types import SessionAddress

CALLS = [{"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]


def noted(person, action):
    return [
        (one.target, one.details, one.actor)
        for one in list_entries(caller=person.caller, limit=99)
        if one.action == action
    ]


def test_sessions_are_listed_and_filtered(editor):
    talk(editor.caller, turn("user", "hello"), session="one", user="ann", agent_id="bot", project="house")
    ended = talk(editor.caller, turn("user", "hello"), session="two")
    editor.submit(f"sessions/{ended.id}/end")

    def found(**filters):
        return re.findall(r'class="title"[^>]*><bdi>([^<]*)<', editor.open("sessions", **filters).text)

    assert sorted(found()) == ["one", "two"]
    for filters in ({"user": "ann"}, {"agent": "bot"}, {"project": "house"}, {"state": "active"}):
        assert found(**filters) == ["one"], filters
    assert found(state="ended") == ["two"]
    assert editor.open("sessions", state="odd").status_code == 422


def test_a_viewer_sees_the_state_and_neither_what_was_said_nor_the_checkpoint(person, editor):
    session = talk(editor.caller, turn("user", "the secret word is plum"), session="one", user="ann")
    address = SessionAddress("one", "ann", "")
    put_fields(caller=editor.caller, address=address, data={"mood": "calm"}, now=timezone.now())
    write_checkpoint(
        caller=editor.caller, address=address, value='{"step": 7}', only_if=Precondition(), now=timezone.now()
    )
    viewer = person(Role.VIEWER)
    page = viewer.open(f"sessions/{session.id}")
    assert all(one in page.text for one in ("calm", "v1", "11\xa0bytes", "What it holds is shown to editors"))
    assert not any(one in page.text for one in ("plum", "&quot;step&quot;"))
    assert "&quot;step&quot;: 7" in editor.open(f"sessions/{session.id}").text
    assert [
        viewer.open(f"sessions/{session.id}/{part}").status_code for part in ("transcript", "window")
    ] == [403, 403]
    assert noted(editor, "session.view_transcript") == []


@pytest.mark.parametrize(
    ("part", "action"), [("transcript", "session.view_transcript"), ("window", "session.view_window")]
)
def test_each_viewing_is_noted_without_naming_the_person(editor, part, action):
    session = talk(editor.caller, turn("user", "hello"), session="one", user="ann")
    for _time in range(2):
        assert "hello" in editor.open(f"sessions/{session.id}/{part}").text
    called = pseudonym(tenant_id=editor.caller.tenant_id, user_id="ann")
    assert noted(editor, action) == [(str(session.id), {"subject": called}, editor.caller.principal)] * 2


def test_a_transcript_is_read_in_the_browser(editor, browse, picture):
    turns = [
        turn("user", "Where is the key?"),
        turn("assistant", None, tool_calls=CALLS),
        turn("tool", "result " * 400, tool_call_id="c", name="look_up"),
        turn("assistant", "In the blue jar."),
    ]
    session = talk(editor.caller, *turns, session="one", user="ann")
    told = episode(editor.caller, "The key is in the blue jar.", user_id="ann")
    tell(editor.caller, session, query="Where is the key?", episode=str(told.id))
    page = browse(editor)
    page.goto(editor.path(f"sessions/{session.id}"))
    page.get_by_role("link", name="Transcript").click()
    expect(page.locator("#turn-4 .said")).to_have_text("In the blue jar.")
    folded = page.locator("#turn-3 .words")
    expect(folded).to_be_hidden()
    page.get_by_text("show all").click()
    expect(folded).to_be_visible()
    page.get_by_text("1 memory told for this turn").click()
    for said in ("score 0.750", "recalled for the query", "asked with the words of this turn", "rank 1"):
        expect(page.locator("#turn-1 .told")).to_contain_text(said, use_inner_text=True)
    picture(page, "session-transcript-open")
    assert violations(page) == []
    page.get_by_role("link", name="Ask again in the recall lab").click()
    expect(page.get_by_label("Query")).to_have_value("Where is the key?")
    expect(page.get_by_label("As user")).to_have_value("ann")
    expect(page.locator("#results")).to_contain_text("The key is in the blue jar.")


def test_what_was_told_without_a_query_stands_at_what_was_said_last(editor):
    session = talk(editor.caller, turn("user", "first"), turn("assistant", "yes"), session="one", user="ann")
    talk(editor.caller, turn("user", "second"), session="one", user="ann")
    tell(editor.caller, session, query="", entity=str(slot(editor.caller, "Rome", user="ann")))
    page = editor.open(f"sessions/{session.id}/transcript").text
    assert "city: Rome" in page[page.index('id="turn-3"') :]
    assert "city: Rome" not in page[: page.index('id="turn-3"')]


def test_a_transcript_is_paged_both_ways(editor):
    session = talk(editor.caller, *[turn("user", f"line {n}") for n in range(1, 121)], session="one")

    def lines(**place):
        page = editor.open(f"sessions/{session.id}/transcript", **place)
        found = [int(one) for one in re.findall(r">line (\d+)<", page.text)]
        earlier, later = (re.search(rf'href="\?{name}=(\d+)"', page.text) for name in ("before", "after"))
        return found[0], found[-1], earlier and int(earlier[1]), later and int(later[1])

    assert lines() == (1, 50, None, 50)
    assert lines(after=50) == (51, 100, 51, 100)
    assert lines(after=100) == (101, 120, 101, None)
    assert lines(before=51) == (1, 50, None, 50)
    assert lines(at=77) == (72, 120, 72, None)
    assert editor.open(f"sessions/{session.id}/transcript", at="-1").status_code == 422
    assert "From the beginning" in editor.open(f"sessions/{session.id}/transcript", after=5_000).text


def test_the_window_is_what_the_agent_gets(editor):
    session = talk(
        editor.caller,
        *[turn(role, f"{role} {n}") for n in range(9) for role in ("user", "assistant")],
        session="one",
    )
    page = editor.open(f"sessions/{session.id}/window").text
    assert re.findall(r">(?:user|assistant) (\d)<", page) == [str(n) for n in range(3, 9) for _role in "ua"]


def test_what_was_told_is_evicted(editor):
    session = talk(editor.caller, turn("user", "hello"), session="one", user="ann")
    one = episode(editor.caller, "Ann likes plums.", user_id="ann")
    tell(editor.caller, session, query="hello", episode=str(one.id))
    told = f"sessions/{session.id}/told"
    assert "Ann likes plums." in editor.open(told).text
    evict = {"rest": f"sessions/{session.id}/evict", "at": told}
    assert editor.submit(**evict).status_code == 422
    assert editor.submit(**evict, item=f"episode:{one.id}").status_code == 302
    assert "ended" in editor.open(told).text
    assert len(noted(editor, "session.evict")) == 1


def test_a_session_is_ended_and_deleted(editor):
    session = talk(editor.caller, turn("user", "hello"), session="one", user="ann")
    twin = talk(editor.caller, turn("user", "hello"), session="one", user="bob")
    editor.submit(f"sessions/{session.id}/end")
    assert "ended" in editor.open(f"sessions/{session.id}").text
    assert "gone, and nothing brings them back" in editor.open(f"sessions/{session.id}/delete").text
    editor.submit(f"sessions/{session.id}/delete")
    assert editor.open(f"sessions/{session.id}").status_code == 404
    assert editor.open(f"sessions/{twin.id}").status_code == 200
    assert [target for target, _, _ in noted(editor, "session.delete")] == [str(session.id)]


def test_what_was_said_is_shown_and_not_obeyed(editor):
    session = talk(
        editor.caller,
        turn("user", HOSTILE),
        turn("assistant", {"<b>": HOSTILE}, tool_calls=[HOSTILE, {"function": HOSTILE}]),
        turn("tool", HOSTILE * 500, name=HOSTILE[:30]),
        session=ODD,
        user=ODD,
    )
    tell(
        editor.caller,
        session,
        query=HOSTILE,
        episode=HOSTILE[:200],
        observation="9" * 60,
        entity=str(uuid4()),
    )
    for part in ("", "/transcript", "/window", "/told", "/end", "/delete"):
        page = editor.open(f"sessions/{session.id}{part}")
        assert page.status_code == 200, part
        assert not re.search(r"<(script>alert|svg onload|b>|img src=x)", page.text), part


def test_asking_a_turn_again_is_for_editors_and_noted(person, editor):
    session = talk(editor.caller, turn("user", "hello"), turn("assistant", "yes"), session="one", user="ann")
    ask = f"sessions/{session.id}/ask"
    assert person(Role.VIEWER).open(f"{ask}/1").status_code == 403
    assert noted(editor, "session.view_transcript") == []
    assert editor.open(f"{ask}/1").headers["location"].endswith("/recall?q=hello&user=ann")
    assert len(noted(editor, "session.view_transcript")) == 1
    assert [editor.open(f"{ask}/{number}").status_code for number in (2, 99, 2**70)] == [404] * 3


def test_of_what_was_told_outside_a_turn_it_says_that_the_query_is_not_kept(editor):
    session = talk(editor.caller, turn("user", "hello"), session="one", user="ann")
    tell(editor.caller, session, query="something else", episode=str(uuid4()))
    page = editor.open(f"sessions/{session.id}/told").text
    assert "what was asked is not kept" in page
    assert "deleted since" in page
