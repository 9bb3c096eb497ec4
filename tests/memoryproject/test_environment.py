"""Durations in settings, as Go writes them."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from memoryproject import environment


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("15m", 900),
        ("1h30m", 5_400),
        ("2.5s", 2.5),
        (".5s", 0.5),
        ("1.s", 1),
        ("500ms", 0.5),
        ("250us", 0.00025),
        ("250µs", 0.00025),
        ("1ns", 1e-9),
        ("1h1m1s1ms", 3_661.001),
        ("24h", 86_400),
        (" 15m\n", 900),
        ("0", 0),
        ("0s", 0),
    ],
)
def test_a_duration_is_read_in_seconds(monkeypatch, written, seconds):
    monkeypatch.setenv("WINDOW", written)
    assert environment.duration("WINDOW", "1s") == pytest.approx(seconds)


@pytest.mark.parametrize(
    "written",
    [
        "15",
        "m",
        "15 m",
        "1h 30m",
        "-15m",
        "+1m",
        "15min",
        "1d",
        "15M",
        "1e3s",
        ".s",
        "15m;",
        "0x1s",
        "\u0661s",
    ],
)
def test_what_is_no_duration_stops_the_start_with_a_sentence_that_names_it(monkeypatch, written):
    monkeypatch.setenv("WINDOW", written)
    with pytest.raises(ImproperlyConfigured) as refused:
        environment.duration("WINDOW", "15m")
    assert str(refused.value) == f"WINDOW must be a duration such as 15m or 1h30m, not {written!r}."


def test_without_one_the_default_counts(monkeypatch):
    monkeypatch.delenv("WINDOW", raising=False)
    assert environment.duration("WINDOW", "15m") == 900
    monkeypatch.setenv("WINDOW", "")
    assert environment.duration("WINDOW", "15m") == 900


@given(st.integers(0, 99), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_all_parts_add_up(hours, minutes, seconds, milliseconds):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WINDOW", f"{hours}h{minutes}m{seconds}s{milliseconds}ms")
        total = hours * 3_600 + minutes * 60 + seconds + milliseconds / 1_000
        assert environment.duration("WINDOW", "1s") == pytest.approx(total)
