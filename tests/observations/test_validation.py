"""What is refused, in the contract's words and order; lengths are in bytes."""

from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observations.validation import LONGEST, InvalidObservation, check
from tests.observations.notes import note, search, stored

GOOD = {
    "session_id": "s", "type": "decision", "title": "t", "content": "c", "project": "p", "scope": "project",
    "topic_key": "",
}  # fmt: skip


def refusal(**given):
    with pytest.raises(InvalidObservation) as refused:
        check(**GOOD | given)
    return str(refused.value)


def test_what_is_right_is_accepted():
    check(**GOOD, tags=["a"] * 20)


def test_everything_that_is_missing_is_named_in_one_sentence():
    assert refusal(session_id="", type=" ", title="\t", content="\n", project="\u2003") == (
        "validation failed: session_id is required; type is required; title is required; "
        "content is required; project is required"
    )


def test_everything_that_is_too_long_is_named_in_one_sentence():
    long = {name: "x" * (most + 1) for name, most in LONGEST.items()}
    assert refusal(**long, tags=["t" * 101, "u" * 101] * 11) == (
        "validation failed: type exceeds 50 chars; title exceeds 500 chars; content exceeds 50000 chars; "
        "project exceeds 200 chars; scope exceeds 50 chars; topic_key exceeds 200 chars; "
        "tags exceed 20 items; tag exceeds 100 chars"
    )


@pytest.mark.parametrize(("name", "most"), LONGEST.items())
def test_lengths_are_in_bytes_of_utf_8(name, most):
    check(**GOOD | {name: "é" * (most // 2)})
    assert refusal(**{name: "é" * (most // 2) + "x"}) == f"validation failed: {name} exceeds {most} chars"


def test_a_tag_of_100_bytes_is_short_enough():
    check(**GOOD, tags=["é" * 50])
    assert refusal(tags=["é" * 50 + "x"]) == "validation failed: tag exceeds 100 chars"


def test_a_session_id_that_the_column_does_not_hold_is_refused():
    check(**GOOD | {"session_id": "é" * 255})
    assert refusal(session_id="x" * 256) == "validation failed: session_id exceeds 255 chars"


def test_what_is_not_given_is_not_missed():
    check(title="t")
    check()


@given(st.text(max_size=600), st.lists(st.text(max_size=60), max_size=25))
def test_what_is_refused_is_what_would_not_fit(title, tags):
    fits = (
        title.strip() and len(title.encode()) <= 500 and len(tags) <= 20
        and all(len(tag.encode()) <= 100 for tag in tags)
    )  # fmt: skip
    with nullcontext() if fits else pytest.raises(InvalidObservation, match=r"^validation failed: t"):
        check(**GOOD | {"title": title}, tags=tags)


@pytest.mark.parametrize("field", ["session_id", "type", "title", "project"])
def test_nothing_is_saved_of_what_is_refused(caller, field):
    with pytest.raises(InvalidObservation, match=f"^validation failed: {field} is required$"):
        note(caller, "Blue.", **{field: " "})
    assert stored(caller) == []


def test_what_is_as_long_as_it_may_be_is_saved_and_found(caller):
    saved = note(
        caller,
        ("word " * 10_000)[:50_000],
        type="t" * 50,
        title="é" * 250,
        project="p" * 200,
        scope="s" * 50,
        topic_key="k" * 200,
        tags=("x" * 100,) * 20,
        session_id="i" * 255,
    )
    (hit,) = search(caller, "word", project="p" * 200, scope="s" * 50)
    assert hit.observation.id == saved.observation.id
