"""What a query says of the answer beside its subject: when it happened, whether a time is asked for. Pure."""

import re
from calendar import monthrange
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date
from itertools import islice

MOST_DATES = 20  # of those that a query names: more of them single out nothing
PAST, AHEAD = 150, 10  # years before and after today: a month without a year is that of none further off
FIRST, LAST = date.min.toordinal(), date.max.toordinal()
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

# A month counts with a capital letter only: "may" and "march" are verbs as well.
_MONTH = (
    "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    "|Nov(?:ember)?|Dec(?:ember)?"
)
_YEAR = r"(?:19|20)\d\d"
_DATE = re.compile(
    rf"(?:\b(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?:\sof)?\s)?\b(?P<month>{_MONTH})\b\.?"
    rf"(?:\s(?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,?\s(?:of\s)?(?P<year>{_YEAR})\b)?"
)
_ISO = re.compile(rf"(?<![\w-])(?P<year>{_YEAR})-(?P<month>0[1-9]|1[0-2])(?:-(?P<day>\d\d)(?!\d)|(?![\w-]))")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_RELATIVE = re.compile(
    r"\b(?:(?P<day>today|yesterday)|(?P<which>this|last|past)\s(?P<unit>week|weekend|month|year)"
    rf"|(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})\s(?P<of>day|week|month|year)s?\sago)\b",
    re.IGNORECASE,
)
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_BARE_YEAR = re.compile(rf"\b{_YEAR}\b")
_ASKS_WHEN = re.compile(r"\b(when|how long|(what|which) (date|day|month|year))\b", re.IGNORECASE)
_TELLS_TIME = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|last|next|ago|(week|day|month|year)s?|weekend|recently|since|soon|now"
    r"|just|(mon|tues|wednes|thurs|fri|satur|sun)day|morning|evening|night|january|february|march|april|may|june"
    rf"|july|august|september|october|november|december|{_YEAR})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """Days, as ordinals of the proleptic Gregorian calendar; both ends belong to it."""

    first: int
    last: int


def named_spans(query: str, *, years: Collection[int], today: date) -> list[Span]:
    """The days and months that the query names, or else its years, or else what it says relative to `today`.
    A month without a year is that of each of `years` not too far from today, those that the subject has turns
    of; a day that no calendar has names nothing. Each span once, of the first `MOST_DATES` that are named."""
    first, last = max(today.year - PAST, MINYEAR), min(today.year + AHEAD, MAXYEAR)
    near = [year for year in range(first, last + 1) if year in years]
    spans = [
        span
        for year, month, day in islice(dict.fromkeys(_dates(query)), MOST_DATES)
        for each in ([year] if year else near)
        for span in _days_of(each, month, day)
    ]
    named = (int(year) for year in _BARE_YEAR.findall(query))
    spans = spans or [Span(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal()) for year in named]
    spans = spans or [_relative(match, today) for match in _RELATIVE.finditer(query)]
    return list(dict.fromkeys(spans))


def asks_when(query: str) -> bool:
    return _ASKS_WHEN.search(query) is not None


def tells_time(text: str) -> bool:
    """Whether a text holds a word of time, absolute or relative to when it was said. Known at writing."""
    return _TELLS_TIME.search(text) is not None


def asks(text: str) -> bool:
    """Whether a text ends as a question. Known at writing."""
    return text.rstrip().endswith("?")


def _relative(match: re.Match[str], today: date) -> Span:
    """A number of weeks ago is about then: half a unit to both sides."""
    now = today.toordinal()
    if match["day"]:
        day = now - (match["day"].lower() == "yesterday")
        return _span(day, day)
    if match["of"]:
        unit = _DAYS[match["of"].lower()]
        count = _NUMBERS.get(match["count"].lower()) or int(match["count"])
        return _span(now - count * unit - unit // 2, now - count * unit + unit // 2)
    is_last, unit_name = match["which"].lower() != "this", match["unit"].lower()
    monday = now - today.weekday()
    if unit_name == "weekend":
        saturday = monday + 5 - (7 if is_last or today.weekday() < 5 else 0)
        return _span(saturday, saturday + 1)
    if unit_name == "week":
        return _span(monday - 7, monday - 1) if is_last else _span(monday, monday + 6)
    first = _first_day(today, unit_name)
    if not is_last:
        return _span(first, now)
    before = date.fromordinal(max(first - 1, FIRST))
    return _span(_first_day(before, unit_name), first - 1)


def _first_day(day: date, unit: str) -> int:
    """Of the month or year that the day is in."""
    return day.replace(day=1, month=day.month if unit == "month" else 1).toordinal()


def _span(first: int, last: int) -> Span:
    """As far as the calendar goes."""
    return Span(min(max(first, FIRST), LAST), min(max(last, FIRST), LAST))


def _dates(query: str) -> Iterator[tuple[int, int, int]]:
    """The year, 0 if none is named, the month, and the day, 0 for all of the month."""
    for match in _DATE.finditer(query):
        month = MONTHS.index(match["month"][:3].lower()) + 1
        yield int(match["year"] or 0), month, int(match["before"] or match["after"] or 0)
    for match in _ISO.finditer(query):  # ISO 8601: `2023-05-07`, `2023-05`
        if match["day"] != "00":
            yield int(match["year"]), int(match["month"]), int(match["day"] or 0)


def _days_of(year: int, month: int, day: int) -> Iterator[Span]:
    """The day, or with 0 the whole month."""
    length = monthrange(year, month)[1]
    if day <= length:
        yield Span(date(year, month, day or 1).toordinal(), date(year, month, day or length).toordinal())
