"""What can go wrong in the domain. `api/errors.py` maps each class to a status, once."""

from collections.abc import Sequence


class DomainError(Exception):
    """A refusal with a sentence for the caller."""


class NotFound(DomainError):
    """The thing does not exist, or the caller may not know that it does."""


class Gone(DomainError):
    """The thing was there, and is not any longer."""


class Forbidden(DomainError):
    """The caller's key does not reach this."""


class Unauthenticated(DomainError):
    """No key, or one that is unknown, expired or revoked."""


class Invalid(DomainError):
    """A value is not acceptable. `field` names it, dotted from the body's root. Where all was looked at,
    `others` are the values that are not acceptable either."""

    def __init__(self, message: str, field: str = "", others: Sequence["Invalid"] = ()) -> None:
        super().__init__(message)
        self.field, self.others = field, tuple(others)


def refuse(wrong: Sequence[Invalid]) -> None:
    """Raises the first with all others in it; without any, nothing."""
    if wrong:
        first, *others = wrong
        raise Invalid(str(first), first.field, others)


class Conflict(DomainError):
    """The request is well-formed but contradicts what is stored."""


class Restricted(DomainError):
    """The person's memory is restricted: it is kept, and neither read nor changed."""


class PreconditionFailed(DomainError):
    """What the request expects to be stored is not what is stored."""


class TooLarge(DomainError):
    """A size limit is exceeded."""


class TooMany(DomainError):
    """The caller has as much of something as it may have at once; try again in `retry_after` seconds."""

    retry_after = 30


class Unavailable(DomainError):
    """A store that this call needs is away for the moment; try again in `retry_after` seconds."""

    retry_after = 2


class Overdue(Unavailable):
    """PostgreSQL took longer for a statement than the block that asked allows."""
