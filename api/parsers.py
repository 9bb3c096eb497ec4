"""JSON in: bounded, strict, and free of what PostgreSQL cannot store."""

import json
import math
import re
from collections.abc import Collection
from typing import IO, Any

from django.conf import settings
from django.http import HttpRequest

from tenants.errors import Invalid, TooLarge

BLANKS = " \t\r\n"  # of JSON
UNSTORABLE = re.compile("[\\x00\\ud800-\\udfff]")
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


def parse_json(body: bytes, *, as_go: bool = False, mending: Collection[str] = ()) -> Any:
    """The value of a JSON text; read `as_go` does, the first one, whatever follows. Raises Malformed, or
    Invalid for text that cannot be stored, unless a member holds it whose name, in lower case, is in
    `mending`."""
    try:
        # Decoded here: by itself, json.loads takes UTF-16, and halves of surrogate pairs encoded as UTF-8.
        # Read as Go does, a byte that is no UTF-8 becomes such a half, and is then treated like one.
        text = body.decode("utf-8-sig", "surrogateescape" if as_go else "strict")
        value = _JSON.raw_decode(text.lstrip(BLANKS))[0] if as_go else _JSON.decode(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"The body is not valid JSON: {_reason(error)}") from error
    suspicious = b"\\u0000" in body or b"\\ud" in body.lower() or (as_go and not _is_utf8(text))
    if suspicious or body.count(b"[") + body.count(b"{") > DEEPEST:
        _check(value, 0, suspicious=False)
        value = _mend_members(value, mending) if suspicious and mending else value
        _check(value, 0, suspicious=suspicious)
    return value


def mend_text(text: str) -> str:
    """The text with U+FFFD in the place of each NUL and each half of a surrogate pair."""
    return UNSTORABLE.sub("\ufffd", text)


def check_text(text: str, field: str = "") -> str:
    """The text itself. Raises Invalid when it holds NUL or half of a surrogate pair."""
    if "\x00" in text:
        raise Invalid("Text may not contain NUL characters.", field)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Invalid("Text may not contain unpaired surrogates.", field) from error
    return text


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mend_members(value: Any, names: Collection[str]) -> Any:
    """The value, with every text mended that such a member holds, however deep."""
    if isinstance(value, list):
        return [_mend_members(one, names) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _mend(one) if name.casefold() in names else _mend_members(one, names)
        for name, one in value.items()
    }


def _mend(value: Any) -> Any:
    if isinstance(value, str):
        return mend_text(value)
    if isinstance(value, list):
        return [_mend(one) for one in value]
    return {mend_text(name): _mend(one) for name, one in value.items()} if isinstance(value, dict) else value


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


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    told = str(error)
    return "a whole number has too many digits" if "set_int_max_str_digits" in told else told


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is out of range")
    return value


_JSON = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
