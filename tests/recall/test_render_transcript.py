from hypothesis import given
from hypothesis import strategies as st

from recall.transcript import LONGEST_RESULT, render
from working.types import Turn

TEN = "abcdefghij"


def said(*contents, role="user"):
    return [Turn(seq=number, role=role, content=content) for number, content in enumerate(contents, 1)]


def test_each_turn_is_a_line_with_its_role():
    turns = [*said("hi"), Turn(seq=2, role="assistant", content=None, tool_calls=[{"id": "x"}])]
    assert render(turns) == 'user: hi\nassistant: [calls [{"id": "x"}]]'


def test_content_that_is_no_text_stands_as_json():
    assert render(said({"a": ["ü"]})) == 'user: {"a": ["ü"]}'


def test_long_results_of_tools_are_cut():
    assert render(said("x" * 5_000, role="tool")) == "tool: " + "x" * LONGEST_RESULT + "…"
    assert len(render(said("x" * 5_000))) > 5_000, "what people said is not"


def test_of_a_long_conversation_the_beginning_and_the_newest_are_kept():
    text = render(
        said(*(f"turn {first}{second} " + "x" * 90 for first in TEN for second in TEN)), longest=2_000
    )
    lines = text.split("\n")
    assert lines[0].startswith("user: turn aa ")
    assert lines[-1].startswith("user: turn jj ")
    (gap,) = [line for line in lines if line.startswith("[")]
    assert gap == f"[{100 - len(lines) + 1} turns left out]"
    assert len(text) <= 2_000 + len(gap) + 1


def test_of_what_is_left_out_decisions_ids_and_preferences_stay():
    told = ["We decided to ship on Friday.", "The ticket is INC-4711.", "I prefer tea.", "x" * 90]
    text = render(said(*["y" * 90] * 20, *told, *["z" * 90] * 20), longest=1_000)
    (gap,) = [line for line in text.split("\n") if line.startswith("[")]
    assert gap == (
        f"[{44 - text.count(chr(10))} turns left out; in them: "
        '"user: We decided to ship on Friday." "user: The ticket is INC-4711." "user: I prefer tea."]'
    )
    short = render(said(*["y" * 90] * 20, *told * 50, *["z" * 90] * 20), longest=1_000)
    assert len(short) <= 1_000 * 1.25


@given(st.lists(st.text(max_size=300), max_size=40), st.integers(50, 2_000))
def test_it_is_never_much_longer_than_asked(contents, longest):
    text = render(said(*contents), longest=longest)
    assert len(text) <= longest + longest * 0.35 + 60
    if contents and "\n" not in "".join(contents):
        assert len(text) > 0
