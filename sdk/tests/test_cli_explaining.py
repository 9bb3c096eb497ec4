"""What a score is made of is drawn as it is: on one scale, with what takes something off marked."""

from typing import Any

import pytest
from strata_memory.cli.explaining import Part, drawn, parts_of, scales


def hit(score: float, signals: dict[str, float], kind: str = "episode", **explain: Any) -> dict[str, Any]:
    return {"kind": kind, "score": score, "signals": signals} | ({"explain": explain} if explain else {})


def given(one: dict[str, Any]) -> dict[str, float | None]:
    return {part.name: part.given for part in parts_of(one)}


def test_a_weighted_sum_is_told_by_what_each_part_gave() -> None:
    one = hit(
        7.0,
        {"cosine": 0.8, "bm25": 1.0, "recency": 0.0, "entity": 0.0, "neighbour": -0.4},
        added={
            "meaning": 3.6,
            "words": 3.3,
            "words_around": 0.6,
            "answers": -1.0,
            "asks": -0.42,
            "length": 0.92,
        },
    )
    assert parts_of(one) == [
        Part("cosine", 0.8, 3.6),
        Part("bm25", 1.0, 3.3),
        Part("length", None, 0.92),
        Part("neighbour", None, -0.4),
        Part("asks", None, -0.42),
    ]


@pytest.mark.parametrize(
    ("one", "gave"),
    [
        (
            hit(
                0.65,
                {"cosine": 0.8, "recency": 0.2, "entity": 0.0},
                formula="score = 0.75 · cosine + 0.25 · recency + entity",
            ),
            {"cosine": 0.6, "recency": 0.05},
        ),
        (hit(-0.05, {"cosine": -0.05}, formula="score = cosine"), {"cosine": -0.05}),
        (hit(0.31, {"cosine": 0.11, "entity": 0.2}, "entity"), {"cosine": 0.11, "entity": 0.2}),
    ],
)
def test_where_weights_are_told_each_signal_counts_as_they_say(
    one: dict[str, Any], gave: dict[str, float]
) -> None:
    assert given(one) == pytest.approx(gave)


def test_parts_that_do_not_make_up_the_score_are_not_said_to_have() -> None:
    unknown = hit(0.65, {"bm25": 1.0, "cosine": 0.5}, "observation")
    assert given(unknown) == {"bm25": None, "cosine": None}
    assert scales([unknown]) == {"observation": 0.0}
    assert drawn(parts_of(unknown), 0.0) == ["bm25     1.00", "cosine   0.50"]


def test_all_bars_of_a_kind_have_one_scale_and_what_took_off_is_marked() -> None:
    high = hit(8.0, {"cosine": 0.9}, added={"meaning": 8.0})
    low = hit(2.0, {"cosine": -0.9}, added={"meaning": -2.0, "length": 4.0})
    slot = hit(0.1, {"cosine": 0.1}, "entity")
    assert scales([high, low, slot]) == {"episode": 8.0, "entity": 0.1}
    assert drawn(parts_of(high), 8.0) == ["cosine   0.90   +8.00  ██████████"]
    assert drawn(parts_of(low), 8.0) == [
        "length          +4.00  █████",
        "cosine  -0.90   -2.00  ░░",
    ]


def test_next_to_nothing_has_no_bar() -> None:
    tiny = hit(4.0, {"cosine": 0.01, "bm25": 1.0}, added={"meaning": -0.01, "words": 4.01})
    assert drawn(parts_of(tiny), 4.01)[-1] == "cosine   0.01   -0.01"


def test_a_name_that_others_chose_cannot_command_the_terminal() -> None:
    assert "\x1b" not in drawn([Part("a\x1b[2J", 1.0, 1.0)], 1.0)[0]
