"""The ledger: where a memory was used, and whether it helped."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from recall.feedback import NewFeedback, give_feedback
from tests.console.remembered import HOSTILE, episode, talk, tell, turn
from tests.console.senses import expect_fits, expect_harmless


@pytest.fixture
def told(admin):
    """An episode that a session was told for its second turn, and that somebody found helpful."""
    memory = episode(admin.caller, "The lighthouse keeper is called Ines.", user_id="ann")
    session = talk(
        admin.caller, turn("user", "Hello"), turn("user", "Who keeps the light?"), session="night",
        user="ann", agent_id="pilot",
    )  # fmt: skip
    tell(admin.caller, session, query="Who keeps the light?", episode=str(memory.id), skill="boats")
    verdict = NewFeedback(
        "helpful", "It was right.", kind="episode", memory_id=str(memory.id), session_id="night"
    )
    give_feedback(caller=admin.caller, new=verdict, now=timezone.now())
    return memory, session


def test_a_memory_is_found_by_its_words_and_its_usage_is_told(admin, told, browse, picture):
    page = browse(admin)
    page.goto(admin.path("ledger"))
    picture(page, "ledger-list")
    page.get_by_label("Find a memory by its words").fill("who keeps the lighthouse")
    page.locator("#found h2:text('Which memory is meant?')").wait_for()
    page.locator("#found .title", has_text="Ines").click()
    expect(page.locator("dt:text-is('Told') + dd")).to_have_text("1")
    expect(page.locator("dt:text-is('Helpful') + dd")).to_have_text("1")
    for said in ("rank 1", "score 0.750", "recalled"):
        expect(page.locator("#rows > li")).to_contain_text(said)
    expect(page.locator("#found")).to_contain_text("It was right.")
    picture(page, "ledger-memory")


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"session": "night"}, 2), ({"session": "day"}, 0), ({"user": "ann"}, 2), ({"user": "bob"}, 0),
        ({"agent": "pilot"}, 2), ({"agent": "cook"}, 0), ({"verdict": "helpful"}, 1),
        ({"verdict": "harmful"}, 0), ({"kind": "episode"}, 1), ({"kind": "skill", "id": "boats"}, 1),
    ],
)  # fmt: skip
def test_what_was_told_is_filtered(admin, told, query, count):
    assert admin.open("ledger", **query).text.count('<div class="title">') == count


def test_a_turns_page_says_what_was_told_for_it_and_why(admin, told, browse, picture):
    _memory, session = told
    page = browse(admin)
    page.goto(admin.path(f"ledger/{session.id}/2"))
    asked = page.locator("h2:text('Looked up with its words') + .rows")
    for said in ("Ines", "rank 1", "why: recalled for the query", "asked with the words of this turn"):
        expect(asked).to_contain_text(said)
    expect(page.get_by_role("link", name="Ask again in the recall lab")).to_have_count(1)
    picture(page, "ledger-turn-told")
    page.goto(admin.path(f"ledger/{session.id}/1"))
    expect(page.locator("main")).not_to_contain_text("Ines")


@pytest.mark.parametrize("path", ["ledger/{}/99", "ledger?kind=episode&id=nobody"])
def test_what_there_is_not_is_not_found(admin, told, path):
    assert admin.http.get(f"{admin.path()}/{path.format(told[1].id)}").status_code == 404


def test_an_id_without_its_kind_is_asked_for(admin):
    answer = admin.open("ledger", id="7")
    assert answer.status_code == 422
    assert "Say of which kind" in answer.text


def test_hostile_words_are_shown_and_not_obeyed(admin, browse):
    memory = episode(admin.caller, HOSTILE + "x" * 49_000, user_id=HOSTILE[:200])
    session = talk(admin.caller, turn("user", "x"), session="evil", user="ann")
    tell(admin.caller, session, query="x", episode=str(memory.id), skill=(HOSTILE + "x" * 400)[:400])
    page = browse(admin, width=360)
    page.goto(admin.path("ledger"))
    expect(page.locator("#rows")).to_contain_text("U+202E")
    expect_harmless(page)
    expect_fits(page, 360)
    page.goto(f"{admin.path('ledger')}?kind=episode&id={memory.id}")
    expect_harmless(page)
    expect_fits(page, 360)


def test_the_list_goes_on_without_end(admin):
    session = talk(admin.caller, turn("user", "x"), session="long", user="ann")
    for start in range(0, 60, 20):
        items = {f"skill{n}": "a" for n in range(start, start + 20)}
        tell(admin.caller, session, query="x", **items)
    first = admin.open("ledger").text
    assert first.count('<div class="title">') == 50
    more = first.split('class="more" hx-get="?')[1].split('"')[0].replace("&amp;", "&")
    assert admin.http.get(f"{admin.path('ledger')}?{more}").text.count('<div class="title">') == 10
