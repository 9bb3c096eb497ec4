"""What can go wrong, as types. Every one is a `StrataError`; none carries the API key.

StrataError
  ConnectionFailed     no answer came: refused, unknown host, cut off (may have been done, if it is a write)
  DeadlineExceeded     no whole answer came in the time of the call
  InvalidAnswer        what came is not an answer of Strata: a redirect, a page of a proxy, too much of it
  Refused              the server answered that it does not do this; has `.status`, `.detail`, `.errors`
    NotModified 304, BadRequest 400, Unauthenticated 401, Forbidden 403, NotFound 404, Conflict 409, Gone 410,
    PreconditionFailed 412, TooLarge 413, Invalid 422, Restricted 423, RateLimited 429, ServerError 5xx
  Buffered             the write is kept on this machine and is sent later; nothing is left to do
  BufferFull           the write could neither be sent nor kept
  BufferUnusable       the buffer's file cannot be used: locked for too long, no database, not ours to write
"""

from dataclasses import dataclass
from typing import Any


class StrataError(Exception):
    """Any failure of a call. It can be copied, and pickled on its way out of another process."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Made again without its `__init__`, which takes other arguments than the sentence that it writes."""
        return _made_again, (type(self), self.args), self.__dict__


def _made_again(kind: type[StrataError], args: tuple[Any, ...]) -> StrataError:
    return kind.__new__(kind, *args)


class ConnectionFailed(StrataError):
    """No answer came. `reached_server` is False when nothing of any attempt can have arrived."""

    def __init__(self, message: str, *, reached_server: bool = True) -> None:
        super().__init__(message)
        self.reached_server = reached_server


class DeadlineExceeded(StrataError):
    """The whole answer was not there in time, all attempts together; `reached_server` likewise."""

    def __init__(self, seconds: float, *, reached_server: bool = True) -> None:
        super().__init__(f"No whole answer within {seconds:g} seconds.")
        self.seconds = seconds
        self.reached_server = reached_server


class InvalidAnswer(StrataError):
    """What answered does not speak as Strata does. `status` is that of the answer, if there was one."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one part of a request; `field` is its path, joined by dots."""

    field: str
    message: str
    code: str = ""


class Refused(StrataError):
    """The server's answer says no. `retry_after` is in seconds, where the server names a time."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: tuple[FieldError, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        wrong = "; ".join(f"{one.field}: {one.message}" if one.field else one.message for one in errors)
        super().__init__(f"{status}: {detail}" + (f" ({wrong})" if wrong else ""))
        self.status = status
        self.detail = detail
        self.errors = errors
        self.retry_after = retry_after


class NotModified(Refused):
    """304: it is still of the version that `if_none_match` names."""


class BadRequest(Refused):
    """400: the request cannot be read."""


class Unauthenticated(Refused):
    """401: the key is unknown, revoked or has expired, or there is none."""


class Forbidden(Refused):
    """403: the key may not do this."""


class NotFound(Refused):
    """404: there is no such thing, or not for this key."""


class Conflict(Refused):
    """409: it contradicts what is there."""


class Gone(Refused):
    """410: it was there, and is no more."""


class PreconditionFailed(Refused):
    """412: it has changed since the version that `if_match` names."""


class TooLarge(Refused):
    """413: the body is longer than the server takes."""


class Invalid(Refused):
    """422: the request is not valid; `errors` says where."""


class Restricted(Refused):
    """423: this person's memory is restricted."""


class RateLimited(Refused):
    """429: too many requests."""


class ServerError(Refused):
    """5xx: the server, or what stands before it, failed."""


class Buffered(StrataError):
    """The server gave no answer to count on, or others are before it; the write is kept in the client's
    buffer and is sent later, once. The failure, if there was one, is its cause.

    `key` is its Idempotency-Key, `waiting` how many writes wait, this one among them.
    """

    def __init__(self, key: str, waiting: int) -> None:
        super().__init__(f"The write is kept, to be sent later; writes that wait: {waiting}.")
        self.key = key
        self.waiting = waiting


class BufferFull(StrataError):
    """The write could not be sent, and the buffer has no room for it."""


class BufferUnusable(StrataError):
    """The buffer's file cannot be read or written. A write that raises this may have been done, and is not
    kept; what waits in the file stays there."""


BY_STATUS: dict[int, type[Refused]] = {
    304: NotModified,
    400: BadRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    412: PreconditionFailed,
    413: TooLarge,
    422: Invalid,
    423: Restricted,
    429: RateLimited,
}


def refusal_type(status: int) -> type[Refused]:
    """The class of a status that is no success and no redirect."""
    return ServerError if status >= 500 else BY_STATUS.get(status, Refused)
