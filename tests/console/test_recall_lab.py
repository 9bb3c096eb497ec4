"""The recall lab in a browser and without one."""

import re
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from console.recall_lab.meanings import MEANINGS
from console.templatetags.lab import because, differ, scales
from episodic.entities import put_entity
from episodic.episodes import store_episode
from episodic.slots import NewEntity
from episodic.types import EpisodeFilter, NewEpisode
from ledger.cases import QueryFilter, list_queries
from recall.lab import Part, Shown, try_recall
from recall.ranking.signals import SIGNALS
from recall.types import RecallQuery
from tests.console.people import Person
from tests.observations.notes import note

FACTS = (
    "Ann drinks green tea in the morning.",
    "Ann drinks coffee after lunch, never tea.",
    "Ann has a dog called Rex.",
    "Ann lives in Oslo, close to the harbour.",
    "Rex the dog chased a cat across the garden.",
    "Ann bakes bread in a shop on Mill Street.",
)
HOSTILE = (
    "<script>alert(1)</script>",
    '<svg onload="alert(1)"></svg>',
    "[tea](javascript:alert(1))",
    "tea \u202eaet",
    "tea " + "x" * 50_000,
    "</textarea></form><b>" * 200,
)


def remember(person: Person, text: str, days: int = 0, user: str = "ann") -> str:
    new = NewEpisode(text=text, user_id=user, session_id="kitchen")
    now = timezone.now() - timedelta(days=days)
    return str(store_episode(caller=person.caller, new=new, now=now).id)


@pytest.fixture
def known(editor: Person) -> list[str]:
    return [remember(editor, text, days) for days, text in enumerate(FACTS)]


def numbers(cells):
    return [float(text.replace("\N{MINUS SIGN}", "-")) for text in cells.all_inner_texts()]


def test_every_signal_of_every_hit_has_its_bar(editor, known, browse, picture):
    page = browse(editor)
    page.goto(editor.path("recall"))
    page.get_by_label("Query").fill("What tea does Ann drink?")
    page.get_by_label("As user").fill("ann")
    first = page.locator(".hits > li").first
    expect(first).to_contain_text(FACTS[0])
    expect(first.locator("tfoot")).to_contain_text("score")
    score, more = (numbers(first.locator(f"tfoot td.number strong >> nth={at}"))[0] for at in (0, 1))
    gives, differences = (numbers(first.locator(f"tbody td.{cell}")) for cell in ("gives", "difference"))
    assert sum(gives) == pytest.approx(score, abs=0.01)
    assert sum(differences) == pytest.approx(more, abs=0.01)
    assert more > 0
    assert differences == sorted(differences, key=lambda one: -abs(one))
    told = sum(one != 0 for one in differences)
    expect(first.locator("svg.stack rect.signal")).to_have_count(told)
    expect(first.locator(".because")).to_contain_text("Same words +")
    expect(page).to_have_url(re.compile("user=ann"))
    picture(page, "recall-lab")
    page.wait_for_load_state("networkidle")
    page.reload()
    expect(page.locator(".hits > li").first).to_contain_text(FACTS[0])


def test_a_slider_ranks_again_at_once(editor, known, browse, picture):
    old = remember(editor, "Ann drinks tea: green tea, tea with milk, tea.", days=40)
    page = browse(editor)
    page.goto(editor.path("recall") + "?q=What+tea+does+Ann+drink?&user=ann&profile=fused&alpha=1&k=3")
    expect(page.locator(f"input[value='{old}']")).to_have_count(1)
    expect(page.locator(".because").first).to_contain_text("Like in meaning")
    page.get_by_label(re.compile("likeness against recency")).fill("0")
    expect(page.locator(f"input[value='{old}']")).to_have_count(0)
    expect(page.locator(".because").first).to_contain_text("New +")
    expect(page.locator(".because").first).not_to_contain_text("Like in meaning")
    expect(page).to_have_url(re.compile("alpha=0(&|$)"))


def test_two_settings_stand_side_by_side(editor, known, browse, picture):
    page = browse(editor)
    remember(editor, "Ann drinks tea: green tea, tea with milk, tea.", days=40)
    page.goto(editor.path("recall") + "?q=What+tea+does+Ann+drink?&user=ann&k=4&mmr=1")
    page.get_by_role("link", name="Compare with a second setting").click()
    page.wait_for_url("**compare=1**")
    page.locator("#id_b-profile").select_option("fused")
    page.locator("#id_b-alpha").fill("0")
    expect(page.locator(".tried").nth(1).locator(".moved[data-way=up]").first).to_be_visible()
    expect(page.locator(".tried")).to_have_count(2)
    expect(page.locator(".tried").nth(0).locator(".moved[data-way=gone]").first).to_have_text("gone from B")
    expect(page.locator(".tried").nth(1).locator(".moved[data-way=new]").first).to_have_text("new in B")
    picture(page, "recall-lab-compare")


def test_a_query_is_saved_run_and_deleted(editor, known, browse, picture):
    page = browse(editor)
    page.goto(editor.path("recall") + "?q=What+tea+does+Ann+drink?&user=ann")
    page.locator(f"input[value='{known[0]}']").check()
    page.get_by_role("button", name="Save as a regression query").click()
    expect(page.get_by_text("Saved as a regression query.")).to_be_visible()
    expect(page.locator(".badge[data-of=passed]")).to_have_count(1)
    page.get_by_role("button", name="Run them now").click()
    expect(page.get_by_text("1 run: 1 passed, 0 failed.")).to_be_visible()
    picture(page, "recall-queries-run")
    page.get_by_role("link", name="Delete What tea").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_text("The saved query is deleted.")).to_be_visible()
    assert list_queries(caller=editor.caller, where=QueryFilter(), limit=5) == []


def test_it_says_where_a_memory_stands_that_was_not_found(editor, known, browse, picture):
    page = browse(editor)
    page.goto(editor.path("recall") + "?q=What+tea+does+Ann+drink?&user=ann&k=2")
    page.locator(".why").get_by_label("Its id").fill(known[5])
    page.get_by_role("button", name="Look for it").click()
    expect(page.get_by_role("heading", name="It stands at place")).to_be_visible()
    expect(page.locator(".because").first).to_contain_text("against the average of 6 candidates")
    picture(page, "recall-why-found")


def test_whoever_is_no_admin_is_told_to_name_somebody(editor, known):
    for rest in ("recall", "recall/results"):
        answer = editor.open(rest, q="tea")
        assert answer.status_code == 200
        assert "Say whose memory is asked" in answer.text


def test_a_viewer_asks_as_anybody_and_saves_nothing(person, editor, known):
    viewer = person("viewer")
    answer = viewer.open("recall", q="What tea does Ann drink?", user="ann")
    assert FACTS[0] in answer.text
    assert "Save as a regression query" not in answer.text
    assert viewer.submit("recall/save", at="recall", q="tea", user="ann").status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [{"alpha": "2"}, {"k": "0"}, {"profile": "best"}, {"as_of": "then"}, {"q": "a\0b"}, {"kinds": "x"}],
)
def test_what_cannot_be_asked_is_said(wrong, editor):
    answer = editor.open("recall/results", **({"q": "tea", "user": "ann"} | wrong))
    assert answer.status_code == 200
    assert 'data-level="warning"' in answer.text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_are_shown_and_obeyed_nowhere(text, editor):
    shown = remember(editor, text, user="mallory")
    pages = [
        editor.open("recall", q="tea", user="mallory"),
        editor.open("recall/why", q="tea", user="mallory", memory=shown),
    ]
    for answer in pages:
        assert answer.status_code == 200
        for raw in ("<script>alert", "<svg onload", 'href="javascript', "\u202e", "</form><b>"):
            assert raw not in answer.text


def jot(person: Person, text: str, user: str = "ann") -> int:
    return note(person.caller, text, title=text[:20], user_id=user).observation.id


@pytest.fixture
def mixed(editor: Person, known: list[str]) -> tuple[int, str]:
    """An observation and a slot beside the episodes."""
    new = NewEntity(user_id="ann", key="favourite_tea", value="green")
    slot = put_entity(caller=editor.caller, new=new, now=timezone.now()).entity
    return jot(editor, "Green tea is what Ann drinks in the kitchen."), str(slot.id)


def test_every_kind_has_named_parts_and_only_episodes_can_be_expected(editor, mixed):
    text = editor.open("recall", q="What tea does Ann drink?", user="ann").text
    for kind in ("episode", "entity", "observation"):
        assert f'data-of="{kind}"' in text
    for named in ("<code>bm25</code>", "<code>cosine</code>", "0.700</td>", "Words, of observations"):
        assert named in text
    assert "What the signals mean" in text
    assert f'value="{mixed[0]}"> expected' not in text
    assert text.count("cannot be expected: saved queries hold episodes") == 2


def test_it_says_that_scores_of_different_kinds_do_not_compare(editor, mixed):
    asked = {"q": "What tea does Ann drink?", "user": "ann"}
    text = editor.open("recall", **asked).text
    assert "those of episodes, entity slots, observations are made differently" in text
    assert "entity slot score" in text
    assert "are made differently" not in editor.open("recall", kinds="episode", **asked).text


def test_kinds_that_cannot_be_asked_are_left_out_with_a_sentence(editor, mixed):
    text = editor.open("recall", q="tea", agent="coder").text
    assert "Entity slots are left out." in text
    assert "Observations are left out." in text


def test_a_slot_that_is_named_says_so(editor, browse, picture):
    for key, value in (("favourite_colour", "teal"), ("favourite_tea", "green"), ("home", "Oslo")):
        new = NewEntity(user_id="ann", key=key, value=value)
        put_entity(caller=editor.caller, new=new, now=timezone.now())
    page = browse(editor)
    page.goto(editor.path("recall") + "?q=favourite+colour&user=ann&kinds=entity")
    first = page.locator(".hits > li").first
    expect(first).to_contain_text("favourite_colour: teal")
    expect(first.locator(".badge").nth(1)).to_have_text("name matches")
    expect(first.locator(".because")).to_contain_text("Names it exactly +0.133")
    expect(page.locator(".hits > li").nth(1).locator(".because")).to_contain_text(
        "Names it exactly \N{MINUS SIGN}0.067"
    )
    picture(page, "recall-lab-slot")


@pytest.mark.parametrize(
    ("candidates", "parts", "sentence"),
    [
        (
            1,
            [("words", 2.0, 2.0)],
            "It is the only candidate of its kind: there is nothing to compare it with.",
        ),
        (3, [("length", 1.0, 1.0)], "It is like the average of 3 candidates in everything."),
        (3, [("topic_key", 1_000.0, 0.0)], "Its topic key holds the query: that puts it before all others."),
        (
            9,
            [("words", 3.0, 1.0), ("asks", -0.5, -0.1), ("length", 1.0, 1.0)],
            "+1.600 against the average of 9 candidates: Same words +2.000; "
            "against it Is a question \N{MINUS SIGN}0.400.",
        ),
        (
            2,
            [("words", 0.0, 1.0)],
            "\N{MINUS SIGN}1.000 against the average of 2 candidates: Same words \N{MINUS SIGN}1.000.",
        ),
    ],
)
def test_a_sentence_names_what_tells_a_memory_apart(candidates, parts, sentence):
    made = tuple(Part(name, added, None, added, usual) for name, added, usual in parts)
    score = sum(part.added for part in made)
    hit = Shown(1, "episode", "1", "tea", score, made, "", "", "", timezone.now(), candidates=candidates)
    assert because(hit) == sentence


def test_every_signal_is_explained():
    added = {"cosine", "bm25", "feedback", "echo", "topic_key"}
    assert {*SIGNALS, *added} <= MEANINGS.keys()


def test_nothing_ticked_is_not_saved(editor, known):
    answer = editor.submit("recall/save", at="recall?q=tea&user=ann", q="tea", user="ann", k="3")
    assert answer.status_code == 422
    assert "it could never fail" in answer.text
    assert 'name="k" value="3"' in answer.text
    assert list_queries(caller=editor.caller, where=QueryFilter(), limit=5) == []


def test_why_takes_every_kind(editor, mixed):
    note_id, slot_id = mixed
    for kind, memory in (("observation", note_id), ("entity", slot_id)):
        asked = {"q": "What tea does Ann drink?", "user": "ann", "kind": kind, "memory": memory}
        assert "It is found: at place 1" in editor.open("recall/why", **asked).text
        assert "this memory has" in editor.open("recall/why", **(asked | {"user": "ben"})).text
        assert editor.open("recall/why", **(asked | {"memory": "x"})).status_code == 404
    assert "other kinds fill the answer" in editor.open("recall/why", **(asked | {"k": 1})).text
    assert editor.open("recall/why", **(asked | {"kind": "document"})).status_code == 404


def test_what_does_nothing_cannot_be_moved(editor, known, browse):
    page = browse(editor)
    page.goto(editor.path("recall") + "?q=tea&user=ann&profile=hybrid")
    for profile, disabled in (("hybrid", "alpha"), ("fused", ""), ("similarity", "alpha decay")):
        page.locator("#id_profile").select_option(profile)
        _are_disabled(page, disabled)
    page.wait_for_url("**profile=similarity**")
    page.goto(editor.path("recall") + "?q=tea&user=ann&profile=hybrid&kinds=observation")
    _are_disabled(page, "alpha decay mmr")


def _are_disabled(page, names):
    for name in ("alpha", "decay", "mmr"):
        if name in names.split():
            expect(page.locator(f"#id_{name}")).to_be_disabled()
        else:
            expect(page.locator(f"#id_{name}")).to_be_enabled()


def test_answers_fit_a_narrow_screen(editor, mixed, browse, picture):
    page = browse(editor, width=360)
    asked = "q=What+tea+does+Ann+drink?&user=ann"
    for rest in (f"?{asked}", f"?{asked}&compare=1", f"/why?{asked}&k=2&memory={mixed[0]}&kind=observation"):
        page.goto(editor.path("recall") + rest)
        expect(page.locator("table.parts").first).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    picture(page, "recall-why-narrow")
    page.goto(editor.path("recall") + f"?{asked}")
    picture(page, "recall-lab-narrow")


def test_settings_stay_in_view_over_equal_columns(editor, mixed, browse, picture):
    page = browse(editor)
    long = remember(editor, "tea" + "x" * 300)
    page.goto(editor.path("recall") + "?q=What+tea+does+Ann+drink?&user=ann&compare=1&profile=fused")
    first, second = (page.locator(".tried").nth(number).bounding_box() for number in (0, 1))
    assert abs(first["width"] - second["width"]) < 1, long
    page.locator(".hits > li").nth(3).scroll_into_view_if_needed()
    page.mouse.wheel(0, 600)
    page.wait_for_function("scrollY > 300")
    assert page.locator("#id_b-alpha").evaluate("(one) => one.getBoundingClientRect().top >= 0")
    assert page.locator("#id_b-mmr").evaluate("(one) => one.getBoundingClientRect().bottom < innerHeight / 2")
    widths = page.locator(".tried").evaluate_all(
        "all => all.map((one) => [...one.querySelector('.hits svg.stack').querySelectorAll('rect')]"
        ".map((rect) => rect.getAttribute('width')).join())"
    )
    assert widths[0] == widths[1]
    picture(page, "recall-lab-compare-scrolled")


def test_bars_of_both_settings_have_one_scale_where_scores_compare(editor, known):
    def tried(**second):
        query = RecallQuery(
            "What tea does Ann drink?", EpisodeFilter(user_id="ann"), profile="fused", alpha=1.0
        )
        found = try_recall(
            caller=editor.caller, query=query, second=replace(query, **second), now=timezone.now()
        )
        return found, *(scales(one, found)["episode"] for one in found)

    found, first, second = tried(alpha=0.0)
    assert first == second
    assert first.most == max(hit.risen for one in found for hit in one.results)
    assert not differ(found)
    found, first, second = tried(profile="hybrid", alpha=None)
    assert second.most > first.most
    assert differ(found)


def test_a_wide_screen_has_the_page_in_its_middle(editor, browse):
    page = browse(editor, width=2400)
    page.goto(editor.path("recall"))
    box = page.locator("main").bounding_box()
    side = page.locator(".side").bounding_box()
    left, right = box["x"] - side["width"], 2400 - box["x"] - box["width"]
    assert box["width"] > 1_400
    assert abs(left - right) < 40


def test_a_memory_of_nobody_is_not_found(editor):
    assert editor.open("recall/why", q="tea", user="ann", memory=str(uuid4())).status_code == 404
    assert editor.open("recall/why", q="tea", user="ann", memory="x").status_code == 404
