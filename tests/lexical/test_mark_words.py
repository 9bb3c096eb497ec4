"""Which words of a passage answer the query."""

from hypothesis import given
from hypothesis import strategies as st

from lexical.passages import mark_words


def marked(text, query):
    return [one.text for one in mark_words(text, query) if one.found]


@given(st.text(max_size=80), st.text(max_size=20))
def test_the_runs_make_up_the_text(text, query):
    assert "".join(one.text for one in mark_words(text, query)) == text


def test_a_word_is_found_by_its_stem_whatever_its_case():
    assert marked("Clusters were Clustered in the blue clustering.", "cluster") == [
        "Clusters", "Clustered", "clustering",
    ]  # fmt: skip


def test_stop_words_are_not_marked():
    assert marked("What is the plan?", "what is the plan") == ["plan"]


def test_nothing_is_marked_without_a_query():
    assert marked("Anything at all.", "?") == []
