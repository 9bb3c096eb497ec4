"""Reads the arguments of a call: a client may send any JSON, whatever the tool's schema says."""

from api.mcp.tool import Arguments, ToolError
from api.parsers import check_text, mend_text
from tenants.errors import Invalid

MOST = 1_000  # of what a limit may ask for


def text_of(given: Arguments, name: str) -> str:
    """The string; empty when there is none. Raises ToolError."""
    value = given.get(name)
    if value is None:
        return ""
    return _storable(value, name, f"{name} must be a string")


def free_text_of(given: Arguments, name: str) -> str:
    """Likewise of what an agent says: U+FFFD stands for what cannot be stored. Raises ToolError."""
    value = given.get(name)
    if value is None:
        return ""
    return _mended(value, f"{name} must be a string")


def free_texts_of(given: Arguments, name: str) -> tuple[str, ...]:
    """Likewise the list of strings; empty when there is none. Raises ToolError."""
    value = given.get(name)
    complaint = f"{name} must be an array of strings"
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ToolError(complaint)
    return tuple(_mended(one, complaint) for one in value)


def limit_of(given: Arguments, default: int, *, name: str = "limit", most: int = MOST) -> int:
    """How many are asked for: 0 and less mean the default, more than `most` means that. Raises ToolError."""
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON has one kind of number
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolError(f"{name} must be an integer")
    return min(value, most) if value > 0 else default


def _mended(value: object, complaint: str) -> str:
    if not isinstance(value, str):
        raise ToolError(complaint)
    return mend_text(value)


def _storable(value: object, name: str, complaint: str) -> str:
    if not isinstance(value, str):
        raise ToolError(complaint)
    try:
        return check_text(value, name)
    except Invalid as error:
        raise ToolError(f"{name}: {error}") from error
