"""One table from domain error to status. Each door gives it its own shape."""

from django.core.exceptions import RequestDataTooBig
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404

from tenants import errors
from tenants.idempotency import AnsweredMeanwhile
from tenants.tombstones import Erased

STATUS: dict[type[Exception], int] = {
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    AnsweredMeanwhile: 409,  # only when that answer has gone since
    Erased: 409,  # not 410: what is begun after the erasure is welcome
    errors.Gone: 410,
    errors.PreconditionFailed: 412,
    errors.TooLarge: 413,
    errors.Invalid: 422,
    errors.Restricted: 423,
    errors.TooMany: 429,
    errors.Unavailable: 503,
    RequestDataTooBig: 413,
    Http404: 404,
    DataError: 422,  # a value that PostgreSQL cannot hold; the last line of defence, not the first
    OperationalError: 503,
    InterfaceError: 503,
}
SENTENCES: dict[type[Exception], str] = {
    DataError: "A value cannot be stored.",
    OperationalError: "PostgreSQL is away.",
    InterfaceError: "PostgreSQL is away.",
    Http404: "Not found.",
}


def status_of(error: Exception) -> tuple[int, str] | None:
    """Status and sentence; None for what is a fault of ours and belongs in the log as a 500."""
    for kind, status in STATUS.items():
        if isinstance(error, kind):
            return status, SENTENCES.get(kind, str(error))
    return None
