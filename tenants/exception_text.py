"""Exceptions as the log may hold them: the type, the way through the code, and a message only where no value
of a request can stand in it.

A message is the last hole through which content gets into a log. `KeyError` and `ValueError` quote what they
were given; PostgreSQL quotes keys (`DETAIL: Key (…)=(…)`), literals (`LINE 1: …`) and bad input.
"""

import traceback
from collections.abc import Iterator

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import SystemCheckError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from providers.errors import EmbeddingUnavailable, LLMUnavailable
from tenants.errors import Unavailable

# Their messages name files, addresses, settings and attributes of code.
TELLING = (
    OSError, ImportError, AttributeError, NameError, RecursionError, ImproperlyConfigured, SystemCheckError,
    RedisConnectionError, RedisTimeoutError,
)  # fmt: skip
OURS = (Unavailable, EmbeddingUnavailable, LLMUnavailable)  # fixed sentences, unless they quote their cause
# Classes of SQLSTATE whose first line names tables, constraints, roles and conditions, never a value.
NAMING = ("08", "23", "25", "40", "42501", "42P01", "42703", "53", "55", "57", "58")
LONGEST = 300
MOST_FRAMES = 40


def describe(error: BaseException) -> str:
    """The type, and what may be told of the message, on one line."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    message = _message(error)
    return f"{name}: {message}" if message else name


def traceback_text(error: BaseException) -> str:
    """The traceback as Python prints it, causes first, with `describe()` in place of each message."""
    parts = []
    for one, because in _chain(error):
        if one.__traceback__ is not None:
            frames = traceback.extract_tb(one.__traceback__, limit=-MOST_FRAMES)
            parts += ["Traceback (most recent call last):\n", *frames.format()]
        parts += [describe(one), "\n", because]
    return "".join(parts).rstrip()


def _message(error: BaseException) -> str:
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    if isinstance(cause, psycopg.Error):  # Django's wrapper repeats its text
        return _database_message(cause)
    if isinstance(error, TELLING) or type(error).__module__ == "kombu.exceptions":
        return _first_line(error)
    if isinstance(error, OURS) and (cause is None or isinstance(cause, TELLING)):
        return _first_line(error)
    return ""


def _database_message(error: psycopg.Error) -> str:
    if error.sqlstate is None:  # not the server's: no connection, a lost one, a full pool
        is_about_connection = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return _first_line(error) if is_about_connection else ""
    told = error.diag.message_primary or "" if error.sqlstate.startswith(NAMING) else ""
    return f"{error.sqlstate} {told}".rstrip()


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:LONGEST] if lines else ""


def _chain(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """The exceptions that led to this one, oldest first, each with the sentence that leads to the next."""
    chain: list[tuple[BaseException, str]] = [(error, "")]
    seen = {id(error)}
    current = error
    while True:
        earlier = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
        if earlier is None or id(earlier) in seen:
            break
        because = "caused" if current.__cause__ is not None else "was handled when this happened"
        chain.append((earlier, f"\n… which {because}:\n\n"))
        seen.add(id(earlier))
        current = earlier
    return reversed(chain)
