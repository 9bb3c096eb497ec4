"""What a query says of when the answer happened."""

from datetime import date

import pytest

from lexical.hints import MOST_DATES, asks, asks_when, named_spans, tells_time


def spans(query, years=(2023,)):
    return [
        (date.fromordinal(one.first).isoformat(), date.fromordinal(one.last).isoformat())
        for one in named_spans(query, years=years, today=date(2023, 3, 15))
    ]


@pytest.mark.parametrize(("query", "expected"), [
    ("What did she buy on 7 May 2023?", [("2023-05-07", "2023-05-07")]),
    ("What did she buy on May 7, 2023?", [("2023-05-07", "2023-05-07")]),
    ("the 3rd of June, 2022", [("2022-06-03", "2022-06-03")]),
    ("Where was he in August 2023?", [("2023-08-01", "2023-08-31")]),
    ("Where was he in Feb. 2024?", [("2024-02-01", "2024-02-29")]),
    ("Where was he in July?", [("2023-07-01", "2023-07-31")]),
    ("What happened in 2021?", [("2021-01-01", "2021-12-31")]),
    ("the 31st of February 2023", [("2023-01-01", "2023-12-31")]),
    ("what happened in 2023-05-07", [("2023-05-07", "2023-05-07")]),
    ("What happened (2023-05-07)?", [("2023-05-07", "2023-05-07")]),
    ("Who called at 2023-05-07T12:30:00Z?", [("2023-05-07", "2023-05-07")]),
    ("Who called in 2024-02?", [("2024-02-01", "2024-02-29")]),
    ("between 2023-05-07 and 2023-05-09", [("2023-05-07", "2023-05-07"), ("2023-05-09", "2023-05-09")]),
    ("on 2023-02-30", [("2023-01-01", "2023-12-31")]), ("on 2023-05-00", [("2023-01-01", "2023-12-31")]),
    ("2023-13-01", [("2023-01-01", "2023-12-31")]), ("2023-05-071", [("2023-01-01", "2023-12-31")]),
    ("from 2021-2022", [("2021-01-01", "2021-12-31"), ("2022-01-01", "2022-12-31")]),
    ("order 4411-2023-05", [("2023-01-01", "2023-12-31")]),
    ("What did I say today?", [("2023-03-15", "2023-03-15")]),
    ("What did I say yesterday?", [("2023-03-14", "2023-03-14")]),
    ("Who called last week?", [("2023-03-06", "2023-03-12")]),
    ("Who called this week?", [("2023-03-13", "2023-03-19")]),
    ("Who called last weekend?", [("2023-03-11", "2023-03-12")]),
    ("Who called last month?", [("2023-02-01", "2023-02-28")]),
    ("Who called this month?", [("2023-03-01", "2023-03-15")]),
    ("Who called last year?", [("2022-01-01", "2022-12-31")]),
    ("Who called two weeks ago?", [("2023-02-26", "2023-03-04")]),
    ("Who called 3 days ago?", [("2023-03-12", "2023-03-12")]),
    ("Who called 999 years ago?", [("1024-05-14", "1025-05-13")]),
    ("Which film did she see last?", []),
    ("It may rain when they march", []),
    ("", []), ("🐳", []), ("'; DROP TABLE agent_episodes; --", []),
])  # fmt: skip
def test_days_months_and_years_are_spans(query, expected):
    assert spans(query) == expected


def first_days(query, *, years, today):
    return [date.fromordinal(one.first).isoformat() for one in named_spans(query, years=years, today=today)]


def test_a_month_without_a_year_is_looked_for_around_today_however_old_the_memory_is():
    found = first_days("in May", years=range(1, 10_000), today=date(2023, 3, 15))
    assert found == [f"{year}-05-01" for year in range(1873, 2034)]
    assert first_days("in May", years=range(1, 9), today=date(2023, 3, 15)) == []
    assert first_days("in May", years=range(-4, 3), today=date(1, 1, 1)) == ["0001-05-01", "0002-05-01"]
    late = first_days("on 31 December", years=range(9998, 10_001), today=date(9999, 12, 31))
    assert late == ["9998-12-31", "9999-12-31"]


@pytest.mark.parametrize("named", ["May ", "7 May 2023 ", "2023-05-07 ", "2021 ", "yesterday "])
def test_what_is_named_again_is_looked_for_once(named):
    assert spans(named * 500, years=(2022, 2023)) == spans(named, years=(2022, 2023))


def test_of_very_many_dates_the_first_are_looked_for():
    query = " ".join(f"{month} {day}" for month in ("January", "March", "May") for day in range(1, 31))
    assert len(spans(query, years=(2023,))) == MOST_DATES
    assert spans(query)[:1] == spans("January 1")


@pytest.mark.parametrize("today", [date.min, date(1, 1, 15), date(1, 12, 31), date(9999, 1, 1), date.max])
@pytest.mark.parametrize("named", [
    "yesterday", "this week", "last week", "this weekend", "last weekend", "this month", "last month",
    "this year", "last year", "6 days ago", "999 years ago", "in May", "2021",
])  # fmt: skip
def test_at_either_end_of_the_calendar_every_day_is_one_of_it(named, today):
    for one in named_spans(f"What happened {named}?", years=range(1, 10_000), today=today):
        assert date.min.toordinal() <= one.first <= one.last <= date.max.toordinal()


def test_a_month_without_a_year_is_that_of_each_year_the_subject_tells_of():
    assert [first for first, _last in spans("in May", years=(2022, 2023))] == ["2022-05-01", "2023-05-01"]
    assert spans("in May", years=()) == []


@pytest.mark.parametrize(("query", "expected"), [
    ("When did she leave?", True), ("What year was it?", True), ("Which day do they meet?", True),
    ("How long did it take?", True), ("What did she say whenever it rained?", False), ("", False),
])  # fmt: skip
def test_a_question_asks_when(query, expected):
    assert asks_when(query) is expected


def test_texts_tell_of_time_and_ask():
    assert tells_time("Ana: I saw it yesterday.")
    assert not tells_time("Ana: I saw it.")
    assert asks("Ana: did you? ")
    assert not asks("Ana: you did.")
