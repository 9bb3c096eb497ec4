"""What a viewer sees of conversations: that there are turns, and none of their words."""

from uuid import uuid4

import pytest
from django.utils import timezone

from ledger.cases import NewQuery, add_sampled
from tenants.models import Role
from tenants.scope import scope
from tests.console.injected import held_write
from tests.console.remembered import episode, talk, tell, turn

WORD = "marzipan"
SAID = "Turns of conversations are shown to editors"
LISTS = [
    ("episodes", {}),
    ("episodes", {"user": "ann"}),
    ("episodes", {"user": "ann", "q": WORD}),
    ("episodes", {"user": "ann", "history": "on"}),
    ("person", {"user": "ann"}),
    ("recall", {"user": "ann", "q": WORD}),
]


@pytest.fixture
def said(editor):
    """A verbatim turn, beside a memory, that a session was told."""
    one = episode(
        editor.caller, f"Ann: I hide the {WORD} in the attic.", user_id="ann", memory_type="message",
        session_id="talk",
    )  # fmt: skip
    episode(editor.caller, "Ann keeps sweets from her brother.", user_id="ann")
    session = talk(editor.caller, turn("user", f"Where is the {WORD}?"), session="talk", user="ann")
    tell(editor.caller, session, query=f"Where is the {WORD}?", episode=str(one.id))
    return one, session


@pytest.fixture(params=[Role.VIEWER, Role.PRIVACY_OFFICER])
def reader(request, person):
    return person(request.param)


@pytest.mark.parametrize(("page", "query"), LISTS)
def test_lists_leave_out_turns_and_say_so(person, editor, said, page, query):
    shown, full = person(Role.VIEWER).open(page, **query), editor.open(page, **query)
    assert (shown.status_code, full.status_code) == (200, 200)
    assert f"the {WORD} in the attic" in full.text
    assert f"the {WORD} in the attic" not in shown.text
    assert "keeps sweets" in shown.text
    assert (SAID in shown.text, SAID in full.text) == (True, False)


def test_whoever_does_not_write_opens_no_turn(reader, editor, said):
    one, _session = said
    for place in ("episodes/{}", "recall/why?q=x&user=ann&memory={}"):
        path = place.format(one.id)
        assert editor.http.get(f"{editor.path()}/{path}").status_code == 200
        refused = reader.http.get(f"{reader.path()}/{path}")
        assert (refused.status_code, SAID in refused.text, WORD in refused.text) == (403, True, False)
    assert reader.open("episodes", memory_type="message").status_code == 403
    assert reader.open(f"episodes/{uuid4()}").status_code == 404


def test_what_took_the_place_of_a_turn_does_not_repeat_it(person, editor, said):
    one, _session = said
    later = episode(editor.caller, "Ann moved the sweets.", user_id="ann")
    with scope(editor.tenant.id):
        type(one).objects.filter(id=one.id).update(superseded_by=later.id)
    assert WORD in editor.open(f"episodes/{later.id}").text
    assert WORD not in person(Role.VIEWER).open(f"episodes/{later.id}").text


def test_where_a_turn_was_used_is_told_without_its_words(reader, editor, said):
    one, session = said
    for page in (
        "ledger", f"ledger?kind=episode&id={one.id}", f"ledger?q={WORD}&user=ann", "person?user=ann",
        f"ledger/{session.id}/1", f"sessions/{session.id}/told",
    ):  # fmt: skip
        shown, full = (who.http.get(f"{who.path()}/{page}") for who in (reader, editor))
        assert (shown.status_code, full.status_code) == (200, 200), page
        assert f"the {WORD} in the attic" in full.text, page
        assert f"the {WORD} in the attic" not in shown.text, page


def test_a_vague_query_is_not_told_apart_with_what_was_said(person, editor, said):
    query = {"user": "ann", "session": "talk", "q": "and that?"}
    assert f"Where is the {WORD}?" in editor.open("recall", **query).text
    assert WORD not in person(Role.VIEWER).open("recall", **query).text


def test_the_text_of_a_write_decision_is_shown_to_editors(reader, editor):
    one = held_write(editor.caller, f"I hide the {WORD}.", reason="health")
    for page in ("decisions", f"decisions/{one.id}"):
        shown, full = reader.open(page), editor.open(page)
        assert WORD in full.text
        assert (WORD in shown.text, "shown to editors" in shown.text, "health" in shown.text) == (
            False, True, True,
        )  # fmt: skip


def test_sampled_queries_are_shown_to_editors(person, editor):
    with scope(editor.tenant.id):
        new = NewQuery(f"Where is the {WORD}?", user_id="ann")
        add_sampled(tenant_id=editor.tenant.id, queries=[new], now=timezone.now())
    assert WORD in editor.open("recall/queries").text
    assert WORD not in person(Role.VIEWER).open("recall/queries").text
