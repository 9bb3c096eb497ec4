"""Loud readers of the environment: a wrong value stops the start with a sentence that names it.

A value is looked up in the environment variable `NAME`, then in the file named by `NAME_FILE` (for
secrets), then in `$MEMORY_HOME/embedded.json`, which the embedded servers keep while they run so that
`manage.py` in another shell finds them.
"""

import json
import os
import re
from functools import cache
from pathlib import Path
from urllib.parse import quote

import psycopg
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict

BASE_DIR = Path(__file__).resolve().parent.parent
_DURATION_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3_600.0}
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def memory_home() -> Path:
    """The folder that holds everything the embedded servers and the local model keep."""
    return Path(os.environ.get("MEMORY_HOME") or BASE_DIR / ".memory").absolute()


@cache
def _embedded() -> dict[str, str]:
    try:
        settings: dict[str, str] = json.loads((memory_home() / "embedded.json").read_text())
    except OSError:
        return {}  # no embedded server runs
    except ValueError as error:
        raise ImproperlyConfigured(f"{memory_home() / 'embedded.json'} is not readable: {error}") from error
    return settings


def text(name: str, default: str = "") -> str:
    """The setting as text."""
    if value := os.environ.get(name):
        return value
    if path := os.environ.get(f"{name}_FILE"):
        try:
            return Path(path).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE names a file that cannot be read: {error}") from error
    return _embedded().get(name, default)


def number(name: str, default: int, *, minimum: int = 0, maximum: int = 2**31) -> int:
    """The setting as a whole number between `minimum` and `maximum`."""
    raw = text(name, str(default))
    try:
        value = int(raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {raw!r}.") from error
    if not minimum <= value <= maximum:
        raise ImproperlyConfigured(f"{name} must lie between {minimum} and {maximum}, not {value}.")
    return value


def decimal(name: str, default: float, *, minimum: float = 0, maximum: float = 1) -> float:
    """The setting as a number between `minimum` and `maximum`, with a point where it needs one."""
    raw = text(name, str(default))
    try:
        value = float(raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a number, not {raw!r}.") from error
    if not minimum <= value <= maximum:  # also false for NaN
        raise ImproperlyConfigured(f"{name} must lie between {minimum} and {maximum}, not {value}.")
    return value


def duration(name: str, default: str) -> float:
    """The setting in seconds, from a duration as Go writes it: `15m`, `1h30m`, `2.5s`, `500ms`, `0`."""
    raw = text(name, default).strip()
    parts = _DURATION_PART.findall(raw)
    if raw != "0" and (not parts or "".join(number + unit for number, unit in parts) != raw):
        raise ImproperlyConfigured(f"{name} must be a duration such as 15m or 1h30m, not {raw!r}.")
    return sum(float(number) * _DURATION_UNITS[unit] for number, unit in parts)


def flag(name: str, default: bool) -> bool:
    """The setting as yes or no."""
    raw = text(name, "1" if default else "0").lower()
    if raw in _TRUE:
        return True
    if raw in _FALSE:
        return False
    raise ImproperlyConfigured(f"{name} must be one of 1, 0, true, false, yes, no, on, off; not {raw!r}.")


def words(name: str, default: str = "") -> list[str]:
    """The setting as a list, separated by commas."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def database_url(name: str, role: str) -> str:
    """The libpq URI in setting `name`.

    Without one, it points at the socket that the embedded server would have, so that commands which need
    no database still start.
    """
    uri = (
        text(name)
        or f"postgresql://{role}@/strata?host={quote(str(memory_home() / 'run-postgres'), safe='')}"
    )
    try:
        conninfo_to_dict(uri)
    except psycopg.ProgrammingError:
        raise ImproperlyConfigured(f"{name} is not a PostgreSQL URI.") from None  # it may hold a password
    return uri


# A server that is gone without a word is given up within half a minute, not after hours. For TCP alone.
VANISHED = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


def database(uri: str) -> dict[str, object]:
    """The Django database of a libpq URI."""
    parts = dict(conninfo_to_dict(uri))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.pop("dbname", ""),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "OPTIONS": {"connect_timeout": 3, **VANISHED, **parts},
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,  # a pooled connection that the server has left costs nobody a request
    }
