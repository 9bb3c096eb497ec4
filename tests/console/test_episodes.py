"""Episodes by hand: found, read, edited, pinned, taken back, deleted."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from episodic.access import read_episode
from episodic.episodes import list_episodes
from episodic.retraction import retract_episode
from episodic.types import EpisodeFilter
from tenants.errors import NotFound
from tenants.models import AuditEntry, Role
from tenants.scope import scope
from tests.console.remembered import HOSTILE, episode, talk, turn
from tests.console.senses import violations


def titles(page):
    return re.findall(r'class="title"[^>]*><bdi class="line">([^<]*)<', page.text)


def test_the_newest_come_first_and_what_holds_no_more_is_left_out(editor):
    old = episode(editor.caller, "The lamp was green.")
    gone = episode(editor.caller, "The lamp was red.")
    retract_episode(caller=editor.caller, episode_id=gone.id, now=timezone.now())
    episode(editor.caller, "The lamp is blue.")
    assert titles(editor.open("episodes")) == ["The lamp is blue.", "The lamp was green."]
    assert titles(editor.open("episodes", history="on"))[1] == "The lamp was red."
    before = (old.created_at + timedelta(milliseconds=1)).replace(tzinfo=None).isoformat()
    assert titles(editor.open("episodes", as_of=before)) == ["The lamp was green."]
    assert editor.open("episodes", as_of="2026-01-01T00:00", history="on").status_code == 422


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"user": "ann"}, ["of ann"]),
        ({"agent": "bot"}, ["of the bot"]),
        ({"project": "house"}, ["of the house"]),
        ({"session": "s1"}, ["of s1"]),
        ({"memory_type": "semantic"}, ["it holds"]),
        ({"topic": "lamps"}, ["on lamps"]),
        ({"origin": "session"}, ["left behind"]),
        ({"outcome": "won"}, ["it was won"]),
        ({"pinned": "yes"}, []),
        ({"user": "nobody"}, []),
        ({"until": "2026-01-01"}, []),
    ],
)
def test_each_filter_narrows_the_list(filters, found, narrow):
    assert titles(narrow.open("episodes", **filters)) == found


@pytest.fixture(scope="module")
def narrow(server):
    from tests.conftest import make_member
    from tests.console.people import signed_in

    viewer = signed_in(make_member("acme", server).tenant, server, Role.VIEWER)
    told = [
        ("of ann", {"user_id": "ann"}),
        ("of the bot", {"agent_id": "bot"}),
        ("of the house", {"project": "house"}),
        ("of s1", {"session_id": "s1"}),
        ("it holds", {"memory_type": "semantic"}),
        ("on lamps", {"topics": ("lamps",)}),
        ("left behind", {"origin": "session"}),
        ("it was won", {"outcome": "won"}),
    ]
    for text, named in told:
        episode(viewer.caller, text, **named)
    return viewer


def test_a_search_names_its_subject_unless_an_admin_asks(editor, admin):
    episode(editor.caller, "Ann keeps her bicycle in the cellar.", user_id="ann")
    refused = editor.open("episodes", q="bicycle")
    assert (refused.status_code, "Say whose memory is searched" in refused.text) == (422, True)
    assert titles(editor.open("episodes", q="bicycle", user="ann")) == [
        "Ann keeps her bicycle in the cellar."
    ]
    assert editor.open("episodes", q="bicycle", user="ann", pinned="yes").text.count('class="title"') == 0
    episode(admin.caller, "Bob sold the boat.", user_id="bob")
    assert titles(admin.open("episodes", q="the boat"))[0] == "Bob sold the boat."


def test_looking_through_episodes_counts_as_no_recall(editor):
    one = episode(editor.caller, "The stove is cold.", user_id="ann")
    editor.open("episodes", q="stove", user="ann")
    assert read_episode(caller=editor.caller, episode_id=one.id).used.access_count == 0


def test_pages_go_on_without_an_end_and_without_gaps(editor):
    for number in range(53):
        episode(editor.caller, f"number {number}")
    first = editor.open("episodes", project="")
    more = re.search(r'<a href="\?([^"]+)">More', first.text).group(1).replace("&amp;", "&")
    second = editor.http.get(f"{editor.path('episodes')}?{more}")
    assert [*titles(first), *titles(second)] == [f"number {n}" for n in range(52, -1, -1)]
    assert editor.open("episodes", after="nonsense").status_code == 422


def test_what_an_episode_says_is_shown_and_not_obeyed(editor):
    one = episode(editor.caller, HOSTILE * 3 + "x" * 50_000, user_id=HOSTILE[:40], topics=[HOSTILE] * 1_000)
    for page in (
        editor.open("episodes"),
        editor.open(f"episodes/{one.id}"),
        editor.open(f"episodes/{one.id}/edit"),
        editor.open(f"episodes/{one.id}/delete"),
    ):
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<svg onload" not in page.text
        assert "<img" not in page.text.replace('<img src="/static', "")
        assert 'href="javascript' not in page.text
    assert "U+202E" in editor.open(f"episodes/{one.id}").text


def test_an_edit_keeps_what_was_said_and_refuses_an_older_version(editor, browse, picture):
    one = episode(editor.caller, "The meeting is on Monday.", user_id="ann", topics=("plans",))
    page = browse(editor)
    page.goto(editor.path(f"episodes/{one.id}"))
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Text").fill("The meeting is on Friday.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("ins")).to_have_text("Friday")
    expect(page.locator("del")).to_have_text("Monday")
    picture(page, "episode-edited")
    assert violations(page) == []
    stale = editor.submit(f"episodes/{one.id}/edit", text="The meeting is off.", version=1)
    assert stale.status_code == 412
    said = read_episode(caller=editor.caller, episode_id=one.id).episode
    assert (said.text, said.version) == ("The meeting is on Friday.", 2)


def test_an_edit_that_the_policy_refuses_is_told_in_the_form(editor):
    one = episode(editor.caller, "The card is blue.", user_id="ann")
    fields = {"text": "The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH", "version": 1}
    refused = editor.submit(f"episodes/{one.id}/edit", **fields)
    assert (refused.status_code, "policy does not let" in refused.text) == (422, True)
    assert editor.submit(f"episodes/{one.id}/edit", text="  ", version=1).status_code == 422
    assert editor.submit(f"episodes/{one.id}/edit", text="x", version=1, metadata="[1]").status_code == 422


def test_an_episode_is_stored_by_hand(editor):
    answer = editor.submit(
        "episodes/new",
        text="Ann\r\nmoved.",
        user="ann",
        memory_type="semantic",
        topics="moving\r\n\r\nhome",
        metadata='{"by": "hand"}',
    )
    assert answer.status_code == 302, answer.text
    (kept,) = list_episodes(caller=editor.caller, where=EpisodeFilter(user_id="ann"), limit=9)
    assert (kept.text, kept.topics, kept.metadata) == ("Ann\nmoved.", ["moving", "home"], {"by": "hand"})
    assert editor.open("episodes/new", user="ann").text.count('value="ann"') == 1


def test_a_pin_is_set_and_taken_away(editor):
    one = episode(editor.caller, "Keep this.")
    editor.submit(f"episodes/{one.id}/pin", at=f"episodes/{one.id}", on="1")
    assert "Keep this." in editor.open("episodes", pinned="yes").text
    editor.submit(f"episodes/{one.id}/pin", at=f"episodes/{one.id}")
    assert "Keep this." not in editor.open("episodes", pinned="yes").text


def test_what_is_retracted_is_history_and_what_is_deleted_is_gone(editor):
    one, other = episode(editor.caller, "First."), episode(editor.caller, "Second.")
    editor.submit(f"episodes/{one.id}/delete", how="retract")
    assert "retracted" in editor.open(f"episodes/{one.id}").text
    assert editor.submit(f"episodes/{other.id}/delete").status_code == 422
    assert editor.submit(f"episodes/{other.id}/delete", how="for_good").status_code == 302
    assert editor.open(f"episodes/{other.id}").status_code == 404
    with pytest.raises(NotFound):
        read_episode(caller=editor.caller, episode_id=other.id)
    with scope(editor.caller.tenant_id):
        assert AuditEntry.objects.filter(action="episode.delete", target=str(other.id)).exists()


def test_what_took_whose_place_is_linked_both_ways(editor):
    old = episode(editor.caller, "The meeting is on Monday.", user_id="ann", memory_type="semantic")
    new = episode(editor.caller, "The meeting is on Friday.", user_id="ann", memory_type="semantic")
    assert new.supersedes == (old.id,)
    assert str(new.id) in editor.open(f"episodes/{old.id}").text
    assert str(old.id) in editor.open(f"episodes/{new.id}").text


def test_an_episode_leads_to_its_turns(editor, browse):
    session = talk(editor.caller, *[turn("user", f"line {n}") for n in range(1, 9)], session="s1", user="ann")
    one = episode(editor.caller, "Line seven.", user_id="ann", session_id="s1", covers_turns=(7, 7))
    page = browse(editor)
    page.goto(editor.path(f"episodes/{one.id}"))
    place = editor.path(f"sessions/{session.id}/transcript") + "?at=7#turn-7"
    page.get_by_role("link", name="turn 7").click()
    expect(page).to_have_url(place)
    expect(page.locator("#turn-7 .said")).to_have_text("line 7")
    page.goto(editor.path("episodes"))
    page.get_by_role("link", name="turn 7").click()
    expect(page).to_have_url(place)
    lost = episode(editor.caller, "Said long ago.", session_id="gone", covers_turns=(1, 2))
    assert editor.open(f"episodes/{lost.id}/place").headers["location"].endswith(f"/episodes/{lost.id}")


def test_typing_a_filter_narrows_the_list_in_place(editor, browse, picture):
    for number in range(60):
        episode(editor.caller, f"number {number}", user_id="ann" if number % 20 == 0 else "bob")
    page = browse(editor)
    page.goto(editor.path("episodes"))
    page.locator("#rows > li").nth(49).wait_for()
    page.locator("#rows > li").last.scroll_into_view_if_needed()
    page.get_by_text("number 0", exact=True).wait_for()
    page.get_by_label("User").fill("ann")
    expect(page.locator("#rows > li")).to_have_count(3)
    expect(page).to_have_url(re.compile("user=ann"))
    picture(page, "episodes-filtered")
    assert violations(page) == []


def test_what_the_policy_holds_back_is_said_to_wait(acme, editor):
    officer = acme.with_key(scopes=("read", "write", "admin"))
    document = {"sensitive": {"secrets": "hold"}}
    officer.http.patch("/api/v1/policy", json={"document": document}).raise_for_status()
    answer = editor.submit(
        "episodes/new",
        text="The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH",
        user="ann",
        memory_type="episodic",
    )
    assert answer.status_code == 302, answer.text
    assert "It waits under Write decisions" in editor.http.get(answer.headers["location"]).text
    assert list_episodes(caller=editor.caller, where=EpisodeFilter(user_id="ann"), limit=9) == []
