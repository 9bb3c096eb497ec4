"""What the exit status of `strata` says. Pure."""

from ..errors import (
    ConnectionFailed,
    DeadlineExceeded,
    NotFound,
    Refused,
    ServerError,
    StrataError,
    Unauthenticated,
)
from ..transport import NO_KEY

DONE = 0
NOTHING = 1  # nothing was found or written, the doctor found a fault, or the output cannot be written
USAGE = 2
AWAY = 3  # no server, or none that can answer
REFUSED = 4
UNSURE = 5  # the doctor found what is only like the fact


class Usage(Exception):
    """What was asked cannot be asked like that."""


def status_of(error: StrataError) -> int:
    """The status for a call that failed."""
    if isinstance(error, NotFound):
        return NOTHING
    if isinstance(error, Refused) and not isinstance(error, ServerError):
        return REFUSED
    return AWAY


def sentence_of(error: StrataError) -> str:
    """Why, and what helps."""
    if isinstance(error, ConnectionFailed | DeadlineExceeded):
        return f"The server does not answer: {error}"
    if status_of(error) == AWAY:
        return f"The server does not answer as it should: {error}"
    if isinstance(error, NotFound):
        return f"There is no such thing: {error.detail}"
    if isinstance(error, Unauthenticated):
        return key_sentence(error)
    return f"The server refuses: {_told(error) if isinstance(error, Refused) else error}"


def lacks_key(error: Unauthenticated) -> bool:
    """Whether none was sent."""
    return error.detail.endswith(NO_KEY)


def key_sentence(error: Unauthenticated) -> str:
    """Why nobody is let in: without a key, or with this one."""
    if lacks_key(error):
        return "The server asks for a key, and none is named: use STRATA_API_KEY or --key."
    return f"The server does not take this key: {error.detail}"


def _told(error: Refused) -> str:
    """Its reason, and of its fields what that does not say already."""
    more = [one for one in error.errors if one.message not in error.detail]
    shown = "; ".join(f"{one.field}: {one.message}" if one.field else one.message for one in more)
    return f"{error.detail} ({shown})" if shown else error.detail
