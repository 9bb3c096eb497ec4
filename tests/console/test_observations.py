"""Observations as people find, read, write, change and throw them away."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from observations.observations import access_observation
from tenants.audit import list_entries
from tests.console.remembered import HOSTILE
from tests.console.senses import expect_fits, expect_harmless, violations
from tests.observations.notes import delete, edit, fill, note, revisions

LONG = "x" * 49_900


def titles(answer):
    return re.findall(r'class="title" href="[^"]*"><bdi class="line">([^<]*)<', answer.text)


def ids(answer):
    return re.findall(r'name="id" value="(\d+)"', answer.text)


def did(person):
    entries = list_entries(caller=person.caller, limit=20)
    return [one.action for one in entries if one.action.startswith("observation.")]


@pytest.fixture
def one(editor):
    return note(editor.caller, "The blue cluster.", tags=("a", "b"), topic_key="infra/db").observation


def test_the_list_is_searched_as_one_types(editor, browse, picture):
    for n in range(12):
        note(editor.caller, f"The cluster {n} runs in zone {n}.", title=f"Zone {n}", tags=("zone", f"z{n}"))
    note(editor.caller, "Orders are shipped on Friday.", title="Shipping", type="pattern")
    page = browse(editor)
    page.goto(editor.path("observations"))
    titles = page.locator(".rows .title")
    expect(titles).to_have_count(13)
    picture(page, "observations-list")
    page.keyboard.press("/")
    page.keyboard.type("shipped friday")
    page.get_by_text("1 holds every word, best first").wait_for()
    expect(titles.first).to_have_text("Shipping")
    expect(page).to_have_url(re.compile("q=shipped%20friday"))
    page.keyboard.press("Escape")
    page.get_by_text("13 observations").wait_for()
    page.get_by_label("Type", exact=True).fill("pattern")
    page.get_by_text("1 observation ").wait_for()
    expect(page).to_have_url(re.compile("type=pattern"))
    page.reload()
    expect(titles).to_have_text(["Shipping"])


def test_pages_go_on_to_the_end_with_and_without_scripts(editor, browse):
    fill(editor.caller, [f"Say {n}." for n in range(120)])
    seen, address = [], editor.path("observations")
    while address:
        answer = editor.http.get(address)
        seen += ids(answer)
        more = re.search(r'class="more"><a href="([^"]*)"', answer.text)
        address = more and more.group(1).replace("&amp;", "&")
    assert len(seen) == len(set(seen)) == 120
    page = browse(editor)
    page.goto(editor.path("observations"))
    for expected in (100, 120):
        page.locator(".rows > li").last.scroll_into_view_if_needed()
        page.locator(".rows .title").nth(expected - 1).wait_for()
    expect(page.locator(".more")).to_have_count(0)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"tag": "red"}, ["Red"]),
        ({"project": "billing"}, ["Bill"]),
        ({"scope": "global"}, ["Bill"]),
        ({"user": "ann"}, ["Ann"]),
        ({"until": "2000-01-01"}, []),
        ({"trash": "on"}, ["Gone"]),
        ({"trash": "on", "q": "gon"}, ["Gone"]),
        ({"sort": "updated"}, ["Red", "Ann", "Bill"]),
    ],
)
def test_each_filter_narrows_the_list(editor, params, expected):
    start = timezone.now() - timedelta(days=1)
    red = note(editor.caller, "1", title="Red", tags=("red",), now=start).observation
    note(
        editor.caller, "2", title="Bill", project="billing", scope="global", now=start + timedelta(seconds=1)
    )
    note(editor.caller, "3", title="Ann", session_id="sa", user_id="ann", now=start + timedelta(seconds=2))
    delete(editor.caller, note(editor.caller, "gone", title="Gone").observation.id)
    edit(editor.caller, red.id, content="1 again")
    assert titles(editor.open("observations", **params)) == expected


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("since", "garbage"), ("until", "2026-02-30"), ("sort", "sideways"), ("q", "x" * 2_001),
        ("project", "a\x00b"),
    ],
)  # fmt: skip
def test_a_filter_that_cannot_be_meant_shows_nothing_and_says_so_beside_its_field(editor, one, field, said):
    answer = editor.open("observations", **{field: said})
    assert (answer.status_code, titles(answer), ids(answer)) == (422, [], [])
    assert f'id="id_{field}_error"' in answer.text
    assert "To all" not in answer.text
    part = editor.http.get(
        editor.path("observations"),
        params={field: said},
        headers={"HX-Request": "true", "HX-Target": "found"},
    )
    assert (part.status_code, 'role="alert"' in part.text, "<html" in part.text) == (422, True, False)


@pytest.mark.parametrize("query", [{}, {"q": "cluster"}, {"trash": "on"}])
@pytest.mark.parametrize(
    "place", ["garbage", "2026-01-01T00:00:00,7", "2026-01-01T00:00:00+00:00,x", "-1", "9" * 30, "²"]
)
def test_a_place_that_no_link_names_is_refused(editor, one, query, place):
    answer = editor.open("observations", before=place, **query)
    assert (answer.status_code, "This is no place in the list." in answer.text) == (422, True)


def test_a_search_goes_on_behind_its_first_hits_with_and_without_scripts(editor, browse):
    fill(editor.caller, [f"Say {n}." for n in range(120)])
    note(editor.caller, "Else.")
    seen, address = [], editor.path("observations?q=say")
    while address:
        answer = editor.http.get(address)
        assert "120 hold every word, best first" in answer.text
        seen += ids(answer)
        more = re.search(r'class="more"><a href="([^"]*)"', answer.text)
        address = more and more.group(1).replace("&amp;", "&")
    assert len(seen) == len(set(seen)) == 120
    page = browse(editor)
    page.goto(editor.path("observations?q=say"))
    for expected in (100, 120):
        page.locator(".rows > li").last.scroll_into_view_if_needed()
        page.locator(".rows .title").nth(expected - 1).wait_for()
    expect(page.locator(".more")).to_have_count(0)


def test_those_with_every_word_are_listed_newest_first_as_well(editor):
    for number in range(3):
        note(editor.caller, f"Say {number}.")
    answer = editor.open("observations", q="say", sort="newest")
    assert "3 observations with every word" in answer.text
    assert len(ids(answer)) == 3


def test_what_is_only_alike_is_told_apart(editor):
    note(editor.caller, "Say it.", title="Both")
    note(editor.caller, "Say nothing.", title="One")
    answer = editor.open("observations", q="say it")
    assert titles(answer) == ["Both", "One"]
    assert "1 holds every word, best first; then 1 that holds some or means something alike" in answer.text
    assert "None holds every word: 2 that hold some" in editor.open("observations", q="say absent").text


def test_filters_are_folded_on_a_narrow_screen_and_open_on_a_wide_one(editor, one, browse, picture):
    narrow = browse(editor, width=360)
    narrow.goto(editor.path("observations"))
    expect(narrow.get_by_label("Project", exact=True)).to_be_hidden()
    expect(narrow.locator(".rows .title")).to_be_in_viewport()
    assert violations(narrow) == []
    picture(narrow, "observations-narrow")
    narrow.get_by_text("Filters", exact=True).focus()
    narrow.keyboard.press("Enter")
    narrow.get_by_label("Project", exact=True).fill("orders")
    expect(narrow).to_have_url(re.compile("project=orders"))
    narrow.reload()
    expect(narrow.get_by_text("Filters (1 set)")).to_be_visible()
    expect(narrow.get_by_label("Project", exact=True)).to_be_visible()
    expect_fits(narrow, 360)
    wide = browse(editor)
    wide.goto(editor.path("observations"))
    expect(wide.get_by_label("Project", exact=True)).to_be_visible()
    expect(wide.get_by_text("Filters", exact=True)).to_be_hidden()


def test_one_is_written_and_found(editor, browse, picture):
    page = browse(editor)
    page.goto(editor.path("observations"))
    page.get_by_role("link", name="write the first one").click()
    page.get_by_label("Title").fill("Pool size")
    page.get_by_label("Content").fill("The pool has 20 connections.")
    page.get_by_label("Tags").fill("db, pool , db")
    page.get_by_label("Project").fill("orders")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Agents find it from now on.").wait_for()
    expect(page).to_have_url(re.compile(r"/observations/\d+$"))
    picture(page, "observation-written")
    saved = access_observation(caller=editor.caller, observation_id=int(page.url.rsplit("/", 1)[1]))
    assert (saved.title, saved.tags, saved.type) == ("Pool size", ["db", "pool"], "discovery")
    assert did(editor) == ["observation.save"]


def test_what_is_wrong_is_said_beside_its_field(editor, one):
    given = {
        "title": " ",
        "type": "t" * 60,
        "content": "x" * 50_001,
        "project": "p",
        "scope": "",
        "session_id": "s",
    }
    answer = editor.submit("observations/new", **given, tags=",".join(f"t{n}" for n in range(21)))
    assert answer.status_code == 422
    for field, problem in (
        ("title", "required"),
        ("type", "exceeds 50"),
        ("content", "exceeds 50000"),
        ("tags", "exceed 20"),
    ):
        assert re.search(rf'id="id_{field}_error">\s*(<p>)?[^<]*{problem}', answer.text), field


def test_as_many_tags_as_the_api_takes_and_no_more(editor, acme):
    """Whatever is written here, an agent can read, and write again as it reads it."""
    most = [f"{n:02d}{'é' * 49}" for n in range(20)]  # each of 100 bytes
    fields = {"title": "T", "type": "t", "content": "C.", "project": "orders", "scope": "project"}
    saved = editor.submit("observations/new", **fields, session_id="s1", tags=",".join(most))
    number = int(saved.headers["location"].rsplit("/", 1)[1])
    told = acme.http.get(f"/observations/{number}").json()
    assert told["tags"] == most
    assert acme.http.patch(f"/observations/{number}", json={"tags": told["tags"]}).status_code == 200
    for tags in ([*most, "more"], [f"{most[0]}x"]):
        answer = editor.submit(f"observations/{number}/edit", **fields, tags=",".join(tags))
        assert (answer.status_code, 'id="id_tags_error"' in answer.text) == (422, True)
    editor.submit("observations/many", at="observations", id=number, deed="tag", value="more")
    assert access_observation(caller=editor.caller, observation_id=number).tags == most


def test_a_merge_says_which_tags_do_not_fit(editor):
    kept = note(editor.caller, "One.", tags=tuple(f"t{n}" for n in range(20))).observation
    other = note(editor.caller, "Other.", tags=("left",)).observation
    assert "More do not fit:</strong> <bdi" in editor.open(f"observations/{kept.id}/merge/{other.id}").text


def test_every_field_is_edited_and_the_history_tells(editor, one, browse, picture):
    page = browse(editor)
    page.goto(editor.path(f"observations/{one.id}/edit"))
    page.get_by_label("Content").fill("The green cluster, not the blue one.")
    page.get_by_label("Tags").fill("c")
    page.get_by_label("Scope").fill("global")
    page.get_by_label("Topic key").fill("infra/main")
    page.get_by_label("Project").fill("billing")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("What it said before is in its history.").wait_for()
    now = access_observation(caller=editor.caller, observation_id=one.id)
    assert (now.tags, now.scope, now.topic_key, now.project) == (["c"], "global", "infra/main", "billing")
    page.get_by_role("link", name="History").click()
    expect(page.locator("ins", has_text="green")).to_have_count(1)
    picture(page, "observation-differences")
    page.get_by_role("button", name="Say this again").click()
    page.get_by_text("It says again what it said in version 1.").wait_for()
    assert access_observation(caller=editor.caller, observation_id=one.id).content == "The blue cluster."
    assert len(revisions(editor.caller, one.id)) == 2


def test_what_is_not_touched_in_the_form_stays_as_it_is(editor, browse):
    """Browsers end the lines of a text in two characters, and the form sets tags apart by commas."""
    made = note(editor.caller, "\nOne line.\nAnother.", tags=("a, b", "c"), topic_key=" k").observation
    page = browse(editor)
    page.goto(editor.path(f"observations/{made.id}/edit"))
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Changed.").wait_for()
    assert revisions(editor.caller, made.id) == []
    page.goto(editor.path(f"observations/{made.id}/edit"))
    page.get_by_label("Title").fill("Other")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Changed.").wait_for()
    now = access_observation(caller=editor.caller, observation_id=made.id)
    assert (now.title, now.content, now.tags) == ("Other", "\nOne line.\nAnother.", ["a, b", "c"])


def test_whoever_edits_what_somebody_else_has_changed_is_told(editor, one):
    form = editor.open(f"observations/{one.id}/edit")
    seen = re.search(r'name="seen" value="([^"]+)"', form.text).group(1)
    fields = {"title": "T", "type": "t", "content": "Mine.", "project": "orders", "scope": "project"}
    edit(editor.caller, one.id, content="Theirs.")
    answer = editor.submit(f"observations/{one.id}/edit", **fields, seen=seen)
    assert (answer.status_code, "Somebody has changed it" in answer.text, "Mine." in answer.text) == (
        412,
        True,
        True,
    )
    assert access_observation(caller=editor.caller, observation_id=one.id).content == "Theirs."
    seen = re.search(r'name="seen" value="([^"]+)"', answer.text).group(1)
    assert editor.submit(f"observations/{one.id}/edit", **fields, seen=seen).status_code == 302
    assert revisions(editor.caller, one.id)[0].content == "Theirs."


def test_a_topic_key_that_another_one_has_is_said_beside_the_field(editor, one):
    other = note(editor.caller, "Other.").observation
    fields = {"title": "T", "type": "t", "content": "Other.", "project": "orders", "topic_key": "infra/db"}
    answer = editor.submit(f"observations/{other.id}/edit", **fields)
    assert (answer.status_code, "id_topic_key_error" in answer.text) == (409, True)


def test_it_goes_to_the_trash_comes_back_and_goes_for_good(editor, admin, one, browse):
    page = browse(admin)
    page.goto(admin.path(f"observations/{one.id}"))
    page.get_by_role("link", name="Move to the trash").click()
    expect(page.get_by_text("It can be restored from the trash at any time")).to_be_visible()
    page.get_by_role("button", name="Move to the trash").click()
    page.get_by_text("Agents no longer find it; it can be restored.").wait_for()
    page.get_by_role("link", name="Restore").click()
    page.get_by_role("button", name="Restore").click()
    page.get_by_text("Agents find it again.").wait_for()
    page.get_by_role("link", name="Delete for good").click()
    expect(page.get_by_text("This cannot be undone.")).to_be_visible()
    page.get_by_role("button", name="Delete for good").click()
    page.get_by_text("Deleted for good").wait_for()
    assert admin.open(f"observations/{one.id}").status_code == 404
    assert did(admin) == [
        "observation.delete",
        "observation.restore",
        "observation.trash",
        "observation.save",
    ]
    assert editor.open(f"observations/{one.id}/delete").status_code in {403, 404}


def test_it_stands_among_its_neighbours_and_leads_on(editor, one):
    note(editor.caller, "After it.", title="Later")
    page = editor.open(f"observations/{one.id}/timeline")
    assert titles(page) == ["Cluster", "Later"]
    about = editor.open(f"observations/{one.id}").text
    assert f"kind=observation&amp;id={one.id}" in about
    assert re.search(r'href="[^"]*/sessions/[0-9a-f-]{36}">', about)


def test_hostile_words_are_shown_and_do_nothing(admin, browse):
    tags = ("<b>", "\u202ereversed", *(f"t{n}" for n in range(18)))
    made = note(admin.caller, HOSTILE + LONG[:49_000], title=HOSTILE, type="<i>t</i>", tags=tags).observation
    edit(admin.caller, made.id, content=HOSTILE, title=HOSTILE + "2")
    other = note(admin.caller, HOSTILE + "3", title=HOSTILE).observation
    page = browse(admin)
    page.on("dialog", lambda _dialog: pytest.fail("a script ran"))
    pages = [
        f"observations/{made.id}{part}"
        for part in ("", "/history", "/timeline", "/edit", "/trash", f"/merge/{other.id}")
    ]
    for path in (
        *pages,
        "observations",
        "observations/figures",
        f"observations/many?deed=trash&id={made.id}",
    ):
        page.goto(admin.path(path))
        expect_harmless(page)
        expect(page.locator("main")).not_to_contain_text("\u202e", use_inner_text=True)
    page.goto(admin.path(f"observations/{made.id}"))
    expect(page.locator("main")).to_contain_text("<script>alert(1)</script>", use_inner_text=True)
