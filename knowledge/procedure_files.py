"""Procedures as files: YAML between two lines of dashes, if there is any, then the body."""

import hashlib
import json
from pathlib import PurePath
from typing import Any

import yaml

from knowledge.types import ProcedureText
from tenants.agents.parsing import parse_yaml
from tenants.errors import Invalid

FENCE = "---"
LONGEST_NAME, LONGEST_VERSION = 200, 64
LONGEST_BODY = 262_144  # characters
SHORT = 12  # characters of the checksum that serve as a version


def read_procedure(data: bytes, *, origin: str) -> ProcedureText:
    """The procedure that the file `origin` holds. Its name is the file's unless it has `name`; without
    `version`, the beginning of the body's SHA-256 serves. Raises Invalid naming the file."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        metadata, body = _parted(text)
        words = _as_written(text, metadata)
        checksum = hashlib.sha256(body.encode()).hexdigest()
        name = words.get("name") or PurePath(origin).stem
        version = words.get("version") or checksum[:SHORT]
        _check(name, version, body)
        rest = {key: value for key, value in metadata.items() if key not in ("name", "version")}
        return ProcedureText(name, version, body, checksum, _checked(rest), origin)
    except UnicodeDecodeError as error:
        raise Invalid(f"{origin}: This is not UTF-8.") from error
    except Invalid as error:
        raise Invalid(f"{origin}: {error}") from error


def _parted(text: str) -> tuple[dict[Any, Any], str]:
    """What stands above the body, and the body."""
    above = _above(text)
    if above is None:
        return {}, text
    documents = parse_yaml(above.encode())
    metadata = documents[0] if documents else None
    if metadata is not None and (not isinstance(metadata, dict) or len(documents) > 1):
        raise Invalid("What stands between the dashes must be one YAML object.")
    return metadata or {}, text[_body_at(text, above) :].lstrip("\n")


def _above(text: str) -> str | None:
    """The text between the two lines of dashes."""
    first, _, rest = text.partition("\n")
    if first.rstrip() != FENCE:
        return None
    lines: list[str] = []
    for line in rest.split("\n"):
        if line.rstrip() == FENCE:
            return "".join(f"{one}\n" for one in lines)
        lines.append(line)
    raise Invalid("The line of dashes that ends the YAML is missing.")


def _body_at(text: str, above: str) -> int:
    begin = text.index("\n") + 1 + len(above)
    end = text.find("\n", begin)
    return len(text) if end < 0 else end + 1


def _as_written(text: str, metadata: dict[Any, Any]) -> dict[str, str]:
    """Name and version to the letter: as a number, version 1.10 would be 1.1."""
    named = [key for key in ("name", "version") if metadata.get(key) is not None]
    if not named:
        return {}
    written = yaml.load(_above(text) or "", Loader=yaml.BaseLoader)  # noqa: S506  makes nothing but strings
    found = {key: written[key] for key in named}
    for key, value in found.items():
        if not isinstance(value, str) or not value.strip():
            raise Invalid(f"{key} must be text.")
    return found


def _check(name: str, version: str, body: str) -> None:
    if len(name) > LONGEST_NAME or name.endswith("/") or not name.isprintable() or name != name.strip():
        raise Invalid(f"A name has at most {LONGEST_NAME} printable characters and does not end in a slash.")
    if len(version) > LONGEST_VERSION or not version.isprintable() or version != version.strip():
        raise Invalid(f"A version has at most {LONGEST_VERSION} printable characters.")
    if not body.strip():
        raise Invalid("It has no body.")
    if len(body) > LONGEST_BODY:
        raise Invalid(f"Its body exceeds {LONGEST_BODY} characters.")
    if "\x00" in body:
        raise Invalid("Its body contains a NUL character.")


def _checked(metadata: dict[Any, Any]) -> dict[str, Any]:
    if isinstance(metadata.get("agents"), str):
        metadata["agents"] = [metadata["agents"]]
    agents = metadata.get("agents", [])
    if not isinstance(agents, list) or not all(isinstance(one, str) and one for one in agents):
        raise Invalid("agents must be a list of names, or * for every agent.")
    try:
        kept: dict[str, Any] = json.loads(json.dumps(metadata, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise Invalid(f"Its metadata cannot be kept as JSON: {error}") from error
    if "\\u0000" in json.dumps(kept):
        raise Invalid("Its metadata contains a NUL character.")
    return kept
