"""Errors that leave the process or the place where they were raised."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from strata_memory import errors
from strata_memory.errors import (
    Buffered,
    BufferFull,
    BufferUnusable,
    ConnectionFailed,
    DeadlineExceeded,
    FieldError,
    InvalidAnswer,
    Refused,
    StrataError,
    refusal_type,
)

REFUSALS = [
    refusal_type(status)(
        status, "No.", errors=(FieldError("turns.0.role", "Wrong.", "invalid"),), retry_after=2.5
    )
    for status in (*errors.BY_STATUS, 418, 503)
]
EVERY = [
    StrataError("It failed."),
    ConnectionFailed("refused", reached_server=False),
    DeadlineExceeded(0.5, reached_server=False),
    InvalidAnswer("A page.", status=200),
    Buffered("key-1", 3),
    BufferFull("No room."),
    BufferUnusable("It is locked."),
    *REFUSALS,
]


def pickled(error: StrataError) -> Any:
    return pickle.loads(pickle.dumps(error))  # our own


def test_no_class_of_error_is_left_out() -> None:
    known = {one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, StrataError)}
    assert {type(one) for one in EVERY} == known
    assert type(EVERY[-2]) is Refused


@pytest.mark.parametrize("again", [pickled, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_in_another_process_and_as_a_copy(
    error: StrataError, again: Callable[[StrataError], Any]
) -> None:
    other = again(error)
    assert other is not error
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert vars(other) == vars(error)
