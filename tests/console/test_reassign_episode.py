"""An episode that was attributed to the wrong person is corrected by an admin; its agent, project and type by
whoever may edit it."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from episodic.access import read_episode
from episodic.episodes import list_episodes
from episodic.types import EpisodeFilter
from tenants.audit import list_entries
from tenants.scope import scope
from tenants.tombstones import bury
from tests.console.remembered import HOSTILE, episode, slot, talk, tell, turn
from tests.console.senses import violations


@pytest.fixture
def anns(admin):
    """A statement of Ann's from a session, which took another's place, and which the session was told."""
    session = talk(admin.caller, turn("user", "We deploy on Thursday."), session="s1", user="ann")
    episode(admin.caller, "The deploy window is Tuesday.", user_id="ann", memory_type="semantic")
    one = episode(
        admin.caller, "The deploy window is Thursday.", user_id="ann", memory_type="semantic",
        session_id="s1", covers_turns=(1, 1),
    )  # fmt: skip
    slot(admin.caller, "Lyon", user="ann", session_id="s1")
    tell(admin.caller, session, query="When?", episode=str(one.id))
    return one


def now_of(person, one):
    return read_episode(caller=person.caller, episode_id=one.id).episode


def held_by(person, user):
    return [
        one.text for one in list_episodes(caller=person.caller, where=EpisodeFilter(user_id=user), limit=9)
    ]


def test_an_admin_is_told_what_it_means_and_corrects_whose_it_is(admin, anns, browse, picture):
    page = browse(admin)
    page.goto(admin.path(f"episodes/{anns.id}"))
    page.get_by_role("link", name="Correct whose it is").click()
    for said in (
        "no longer for ann", "1 entry in their ledgers", "the session s1: the link to it is cut",
        "1 entity taken from the same session", "1 that it took the place of holds again",
    ):  # fmt: skip
        expect(page.locator("main")).to_contain_text(said)
    picture(page, "episode-reassign")
    assert violations(page) == []
    page.get_by_label("Person").fill("bob")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Whose it is was corrected")).to_be_visible()
    picture(page, "episode-reassigned")
    assert held_by(admin, "ann") == ["The deploy window is Tuesday."]
    assert held_by(admin, "bob") == ["The deploy window is Thursday."]
    assert "memory.reassign" in [entry.action for entry in list_entries(caller=admin.caller, limit=20)]


def test_an_editor_does_not(editor):
    one = episode(editor.caller, "The lamp is blue.", user_id="ann")
    assert "Correct whose it is" not in editor.open(f"episodes/{one.id}").text
    assert editor.open(f"episodes/{one.id}/reassign").status_code == 403


def test_a_change_meanwhile_and_an_erasure_are_said(admin, anns):
    place = f"episodes/{anns.id}/reassign"
    assert admin.submit(place, user="bob", version=anns.version + 1).status_code == 412
    assert admin.submit(place, user="bob", version="never").status_code == 422
    assert admin.submit(place, user="x" * 256, version=anns.version).status_code == 422
    with scope(admin.caller.tenant_id):
        bury(tenant_id=admin.caller.tenant_id, user_id="bob", requested_by="test", now=timezone.now())
    refused = admin.submit(place, user="bob", version=anns.version)
    assert (refused.status_code, "erased since this was written" in refused.text) == (409, True)
    assert now_of(admin, anns).user_id == "ann"


def test_a_turn_of_a_conversation_is_not_offered(admin):
    one = episode(
        admin.caller, "Ann: Hello.", user_id="ann", memory_type="message", origin="session", session_id="s"
    )
    assert "Correct whose it is" not in admin.open(f"episodes/{one.id}").text
    shown = admin.open(f"episodes/{one.id}/reassign").text
    assert ("it cannot be moved alone" in shown, 'name="user"' in shown) == (True, False)
    refused = admin.submit(f"episodes/{one.id}/reassign", at="", user="bob", version=1)
    assert refused.status_code == 409
    shown = admin.submit(f"episodes/{one.id}/edit", text="Ann: Hello.", version=1, memory_type="episodic")
    assert (shown.status_code, "A verbatim turn remains one" in shown.text) == (422, True)


def test_odd_names_are_kept_and_shown_as_they_are(admin):
    one = episode(admin.caller, HOSTILE, user_id=HOSTILE[:100])
    assert admin.submit(f"episodes/{one.id}/reassign", user=HOSTILE[:200], version=1).status_code == 302
    for page in (admin.open(f"episodes/{one.id}/reassign").text, admin.open(f"episodes/{one.id}/edit").text):
        assert "<script>alert" not in page
    assert "U+202E" in admin.open(f"episodes/{one.id}/reassign").text
    assert now_of(admin, one).user_id == HOSTILE[:200]


def test_an_editor_moves_it_to_another_agent_project_and_type(editor, browse, picture):
    episode(
        editor.caller, "The meeting is on Monday.", user_id="ann", agent_id="pilot", memory_type="semantic"
    )
    one = episode(editor.caller, "The meeting is on Friday.", user_id="ann")
    page = browse(editor)
    page.goto(editor.path(f"episodes/{one.id}/edit"))
    page.get_by_label("Agent").fill("pilot")
    page.get_by_label("Type").select_option("semantic")
    picture(page, "episode-edit-place")
    assert violations(page) == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The episode was edited.")).to_be_visible()
    moved = now_of(editor, one)
    assert (moved.agent_id, moved.memory_type, moved.text) == ("pilot", "semantic", one.text)
    assert held_by(editor, "ann") == ["The meeting is on Friday."]
    answer = editor.submit(f"episodes/{one.id}/edit", text=one.text, version=moved.version, project="apollo")
    assert answer.status_code == 302
    assert (now_of(editor, one).project, now_of(editor, one).agent_id) == ("apollo", "pilot")
