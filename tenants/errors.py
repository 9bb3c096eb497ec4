"""What can go wrong in the domain. `api/errors.py` maps each class to a status, once."""


class DomainError(Exception):
    """A refusal with a sentence for the caller."""


class NotFound(DomainError):
    """The thing does not exist, or the caller may not know that it does."""


class Forbidden(DomainError):
    """The caller's key does not reach this."""


class Unauthenticated(DomainError):
    """No key, or one that is unknown, expired or revoked."""


class Invalid(DomainError):
    """A value is not acceptable. `field` names it, dotted from the body's root."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class Conflict(DomainError):
    """The request is well-formed but contradicts what is stored."""


class PreconditionFailed(DomainError):
    """What the request expects to be stored is not what is stored."""


class TooLarge(DomainError):
    """A size limit is exceeded."""


class Unavailable(DomainError):
    """A store that this call needs is away for the moment; try again in `retry_after` seconds."""

    retry_after = 2
