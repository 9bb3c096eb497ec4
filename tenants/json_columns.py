"""JSON for columns of type jsonb, which keep each number as a decimal: of 1e+16 they make the whole number
10000000000000000, which is read back as no float. Written out with a point it stays one."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.types.json import Jsonb, JsonbDumper

EXPONENT = "e+"  # Python writes one into every float from 1e16 on
# Each number whole: one that is passed over would be read again from every one of its digits.
NUMBER_OR_TEXT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:e[+-]\d+)?')


def json_text(value: Any, *, default: Callable[[Any], Any] | None = None) -> str:
    """The value as JSON in which jsonb finds its floats to be floats; but for the sign of -0.0, which no
    decimal has. `default` as `json.dumps` takes it."""
    return _with_points(json.dumps(value, default=default))


def register_dumper() -> None:
    """Has models' fields written likewise. To be called before the first connection is made."""
    psycopg.adapters.register_dumper(Jsonb, _Dumper)


class _Dumper(JsonbDumper):
    def dump(self, obj: Any) -> Buffer | None:
        written = super().dump(obj)
        if written is None or EXPONENT.encode() not in (told := bytes(written)):
            return written
        return _with_points(told.decode()).encode()


def _with_points(text: str) -> str:
    return NUMBER_OR_TEXT.sub(_with_point, text) if EXPONENT in text else text


def _with_point(found: re.Match[str]) -> str:
    told = found[0]
    return told if told[0] == '"' or EXPONENT not in told else f"{Decimal(told):f}.0"
