"""What charts are drawn from: pure geometry."""

import pytest

from console.charts import BOTTOM, DEEP, HEIGHT, TOP, Series, lines, plain, scale, share, stacked

A, B = Series("a", "as", "of-a"), Series("b", "bs", "of-b")


@pytest.mark.parametrize(
    ("highest", "top", "step"),
    [
        (0, 4, 1),
        (3, 4, 1),
        (5, 6, 2),
        (17, 20, 5),
        (40, 40, 10),
        (99, 100, 50),
        (1_234, 1_500, 500),
        (0.5, 4, 1),
    ],
)
def test_an_axis_ends_at_a_round_number_above_the_highest(highest, top, step):
    assert scale(highest) == (top, step)
    assert top >= highest


def test_pieces_stand_upon_one_another_from_the_axis_up():
    chart = stacked("n", "l", [("1 Jan", {"a": 1, "b": 3}), ("2 Jan", {})], [A, B], when="Day")
    below, above = chart.rects
    assert float(below.y) + float(below.height) == HEIGHT - BOTTOM
    assert float(above.y) + float(above.height) == float(below.y)
    assert float(above.y) == TOP  # 4 is the end of the axis
    assert float(above.height) == 3 * float(below.height) == pytest.approx(DEEP * 3 / 4, abs=0.1)
    assert above.title == "1 Jan: 3 bs"


def test_a_line_is_broken_where_there_is_no_value():
    points = [(str(n), {"a": value}) for n, value in enumerate([1, 2, None, 3, None, 4, 5])]
    (line,) = lines("n", "l", points, [A], when="Hour").lines
    assert [len(path.split()) for path in line.paths] == [2, 2]
    assert len(line.dots) == 5


def test_a_value_above_the_axis_stays_on_it():
    (line,) = lines("n", "l", [("1", {"a": 2.0})], [A], when="Hour", top=1.0, shown=share).lines
    assert float(line.dots[0].y) == TOP


def test_the_table_says_the_same_with_the_newest_first():
    chart = stacked("n", "l", [("1 Jan", {"a": 1_000}), ("2 Jan", {"b": 2.5})], [A, B], when="Day")
    assert chart.head == ("Day", "as", "bs")
    assert chart.rows == (("2 Jan", "-", "2.5"), ("1 Jan", "1,000", "-"))


def test_few_labels_stand_below_and_the_last_is_among_them():
    chart = stacked("n", "l", [(str(n), {}) for n in range(30)], [A], when="Day")
    assert [tick.label for tick in chart.x_ticks] == ["5", "13", "21", "29"]
    assert chart.is_empty


def test_nothing_at_all_is_drawn_as_nothing():
    assert lines("n", "l", [], [A], when="Hour").is_empty
    assert (plain(None), share(None), share(0.874)) == ("-", "-", "87 %")
