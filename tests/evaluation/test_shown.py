import re
from xml.etree import ElementTree

import pytest

from memoryproject.evaluation.figures import Outcome
from memoryproject.evaluation.plot import svg
from memoryproject.evaluation.report import Assessed, assess
from memoryproject.evaluation.tables import markdown


def profile(*ranks: int | None, conversations: str = "ab") -> Assessed:
    outcomes = [Outcome(name, 4, (rank,)) for name, rank in zip(conversations, ranks, strict=True)]
    found = assess([*outcomes, Outcome("a", 5, (1,))], resamples=100)
    assert found is not None
    return found


@pytest.fixture
def profiles() -> dict[str, Assessed]:
    return {"similarity": profile(None, 2), "hybrid": profile(1, 1)}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_has_a_row_for_each_profile_and_intervals_where_they_matter(profiles):
    lines = markdown(profiles).splitlines()
    similarity = dict(zip(cells(lines[0]), cells(lines[2]), strict=True))
    assert similarity["profile"] == "similarity"
    assert similarity["recall@10"] == "0.500 (0.000-1.000)"
    assert similarity["MRR"] == "0.250 (0.000-0.500)"
    assert similarity["hit@10"] == "0.500"
    assert cells(lines[3])[0] == "hybrid"


def test_categories_say_what_they_are_and_which_is_left_out(profiles):
    lines = markdown(profiles).splitlines()
    assert cells(lines[-2]) == ["4 single-hop", "2", "0.500", "0.250", "1.000", "1.000"]
    assert cells(lines[-1])[:2] == ["5 adversarial, not in the overall figures", "1"]


def test_every_row_of_a_table_has_as_many_cells(profiles):
    for table in markdown(profiles).split("\n\n"):
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_without_categories_there_is_one_table():
    found = assess([Outcome("a", None, (1,))], resamples=100)
    assert found is not None
    assert "category" not in markdown({"hybrid": found})


def test_the_plot_is_an_image_that_suits_both_schemes(profiles):
    text = svg(profiles)
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"<script|href|url\(", text)


def test_bars_are_as_long_as_the_figures_are_high(profiles):
    root = ElementTree.fromstring(svg(profiles))
    widths = [float(bar.get("width", "")) for bar in root.iter() if bar.get("class") == "bar"]
    recall_similarity, recall_hybrid, mrr_similarity, mrr_hybrid = widths
    assert (recall_similarity, mrr_similarity) == (recall_hybrid / 2, mrr_hybrid / 4)
    assert recall_hybrid == mrr_hybrid


def test_a_profile_without_an_interval_has_a_plain_bar():
    root = ElementTree.fromstring(svg({"a<b": profile(1, 2, conversations="aa")}))
    assert not [one for one in root.iter() if one.get("class") == "interval"]
    assert "a<b" in [one.text for one in root.iter()]
