"""Two settings of the recall lab: what moved between their answers."""

import re
from dataclasses import replace

from django.utils import timezone
from playwright.sync_api import expect

from episodic.types import EpisodeFilter
from recall.lab import try_recall
from recall.types import RecallQuery
from tests.console.senses import expect_fits, violations
from tests.console.test_recall_lab import known, remember

__all__ = ["known"]


def places_of(rows):
    """The places by the first setting and by the second, as each row of the list of moves shows them."""
    shown = [re.search(r"Place (\S+) → +by A, (\S+) by B", " ".join(text.split())) for text in rows]
    return [one.groups() for one in shown]


def test_what_moved_is_seen_at_a_glance_and_fits_a_narrow_screen(editor, known, browse, picture):
    remember(editor, "Ann drinks tea: green tea, tea with milk, tea.", days=40)
    query = RecallQuery("What tea does Ann drink?", EpisodeFilter(user_id="ann"), top_k=4, profile="hybrid")
    second = replace(query, profile="fused", alpha=0.0)
    tried = try_recall(caller=editor.caller, query=query, second=second, now=timezone.now())
    before, after = ({hit.id: str(hit.place) for hit in one.results} for one in tried)
    expected = [(before.get(one, "-"), place) for one, place in after.items()]
    expected += [(place, "-") for one, place in before.items() if one not in after]
    assert before.keys() - after.keys()
    page = browse(editor, width=360)
    asked = "?q=What+tea+does+Ann+drink?&user=ann&k=4&profile=hybrid&kinds=episode"
    page.goto(editor.path("recall") + f"{asked}&compare=1&b-profile=fused&b-alpha=0")
    rows = page.locator(".moves-list > li")
    expect(rows).to_have_count(len(expected))
    assert places_of(rows.all_text_contents()) == expected
    expect(page.locator(".moves .tags")).to_contain_text("gone from B")
    expect_fits(page, 360)
    assert violations(page) == []
    first, other = (page.locator(".tried").nth(number).bounding_box() for number in (0, 1))
    assert other["y"] >= first["y"] + first["height"]
    picture(page, "recall-lab-moves-narrow")
    rows.first.get_by_role("link").click()
    expect(page.locator(".hits > li:target")).to_be_in_viewport()


def test_two_settings_that_answer_the_same_say_so(editor, known):
    text = editor.open("recall", q="What tea does Ann drink?", user="ann", compare="1").text
    assert "Nothing: both settings answer the same memories in the same order." in text
    assert "What moved" not in editor.open("recall", q="What tea does Ann drink?", user="ann").text
