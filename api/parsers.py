"""JSON in: bounded, strict, and free of what PostgreSQL cannot store."""

import json
import math
from typing import IO, Any

from django.conf import settings
from django.http import HttpRequest

from tenants.errors import Invalid, TooLarge

BLANKS = " \t\r\n"  # of JSON
DEEPEST = 100  # levels of nesting; PostgreSQL and Python both give up far below what JSON allows


class Malformed(Invalid):
    """The body is not JSON at all."""


def read_body(request: HttpRequest, *, longest: int | None = None) -> bytes:
    """The body, also of a chunked request, for which Django sees none. Raises TooLarge above `longest`, by
    default `MAX_BODY_BYTES`, without reading on."""
    limit = settings.MAX_BODY_BYTES if longest is None else longest
    body: bytes = stream_of(request).read(limit + 1)
    if len(body) > limit:
        raise TooLarge(f"The body exceeds {limit} bytes.")
    return body


def stream_of(request: HttpRequest) -> HttpRequest | IO[bytes]:
    """What the body can be `read` from bit by bit, also that of a chunked request, for which Django sees
    none."""
    chunked = not request.META.get("CONTENT_LENGTH") and "HTTP_TRANSFER_ENCODING" in request.META
    return request.META["wsgi.input"] if chunked else request


def parse_json(body: bytes, *, first_value: bool = False) -> Any:
    """The value of a JSON text; of its `first_value`, whatever follows. Raises Malformed, or Invalid for text
    that cannot be stored."""
    try:
        # Decoded here: by itself, json.loads takes UTF-16, and halves of surrogate pairs encoded as UTF-8.
        text = body.decode("utf-8-sig")
        value = _JSON.raw_decode(text.lstrip(BLANKS))[0] if first_value else _JSON.decode(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Malformed(f"The body is not valid JSON: {reason}") from error
    suspicious = b"\\u0000" in body or b"\\ud" in body.lower()
    if suspicious or body.count(b"[") + body.count(b"{") > DEEPEST:
        _check(value, 0, suspicious=suspicious)
    return value


def check_text(text: str, field: str = "") -> str:
    """The text itself. Raises Invalid when it holds NUL or half of a surrogate pair."""
    if "\x00" in text:
        raise Invalid("Text may not contain NUL characters.", field)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Invalid("Text may not contain unpaired surrogates.", field) from error
    return text


def _check(value: Any, depth: int, *, suspicious: bool) -> None:
    """Bounds the nesting; looks into strings only where the body has escapes that could hide bad ones."""
    if depth > DEEPEST:
        raise Malformed(f"The body is not acceptable JSON: it is nested deeper than {DEEPEST} levels")
    if isinstance(value, dict):
        for key, item in value.items():
            if suspicious:
                check_text(key)
            _check(item, depth + 1, suspicious=suspicious)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth + 1, suspicious=suspicious)
    elif suspicious and isinstance(value, str):
        check_text(value)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is out of range")
    return value


_JSON = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
