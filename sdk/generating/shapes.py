"""Python's types of the description's schemas: TypedDicts and literals go in, models come out."""

import re
from collections.abc import Callable
from textwrap import fill
from typing import Any

from .description import Description, Field, name_of

PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def type_in(description: Description, schema: dict[str, Any], both: frozenset[str] = frozenset()) -> str:
    """What may be given; `both` are the components whose name is taken by a model. An object may be any
    mapping, too: type checkers take a dictionary in a variable for no TypedDict."""

    def named(name: str) -> str:
        if "enum" in description.components[name]:
            return word(name)
        return any_mapping(input_name(name, both))

    return _typed(schema, named, sequence="Sequence", mapping="Mapping", moment="datetime | str")


def type_out(description: Description, schema: dict[str, Any]) -> str:
    """What is answered. Words that the server may add to are text."""

    def named(name: str) -> str:
        return "str" if "enum" in description.components[name] else name

    return _typed(schema, named, sequence="list", mapping="dict", moment="datetime")


def _typed(
    schema: dict[str, Any], named: Callable[[str], str], *, sequence: str, mapping: str, moment: str
) -> str:
    def inner(one: Any) -> str:
        return _typed(
            one if isinstance(one, dict) else {}, named, sequence=sequence, mapping=mapping, moment=moment
        )

    if "$ref" in schema:
        return named(name_of(schema))
    if choices := _choices(schema):
        return " | ".join(dict.fromkeys(map(inner, choices)))
    if schema.get("type") == "array":
        return f"{sequence}[{inner(schema['items'])}]"
    if schema.get("type") == "object":
        return f"{mapping}[str, {inner(schema.get('additionalProperties'))}]"
    return moment if schema.get("format") == "date-time" else PLAIN.get(schema.get("type", ""), "Any")


def _choices(schema: dict[str, Any]) -> list[dict[str, Any]]:
    found = schema.get("oneOf") or schema.get("anyOf") or schema.get("allOf") or []
    return [one for one in found if not ("$ref" in one and name_of(one) == "NullEnum")]


def can_be_null(schema: dict[str, Any]) -> bool:
    several = schema.get("oneOf", ())
    return bool(schema.get("nullable")) or any(
        "$ref" in one and name_of(one) == "NullEnum" for one in several
    )


def or_none(kind: str) -> str:
    return kind if kind == "Any" else f"{kind} | None"


def word(name: str) -> str:
    """The type of a component with a fixed set of words."""
    return name.removesuffix("Enum")


def input_name(name: str, both: frozenset[str]) -> str:
    return f"{name.removesuffix('Body')}Input" if name in both else name.removesuffix("Body")


def literal(schema: dict[str, Any]) -> str:
    return f"Literal[{', '.join(repr(one).replace(chr(39), chr(34)) for one in schema['enum'])}]"


def any_mapping(name: str) -> str:
    """A TypedDict, or whatever mapping has its fields."""
    return f"{name} | Mapping[str, Any]"


def prose(text: str) -> str:
    """What a description says, without its list of the words that the type names anyway."""
    told = re.split(r"(?:^|\s)\* `", text, maxsplit=1)[0]
    return " ".join(told.split()).replace("\\", "\\\\")


def model(description: Description, name: str, otherwise: str) -> str:
    """The class of an answer. `otherwise`: what it is, where the description does not say."""
    shape = description.components[name]
    needed = shape.get("required", ())
    lines = [f"class {name}(Answer):", *_docstring(_said_of(shape) or otherwise)]
    for wire, schema in shape["properties"].items():
        field = Field(wire, schema, wire in needed, "")
        kind = type_out(description, schema)
        kind = or_none(kind) if can_be_null(schema) or not field.required else kind
        default = "" if field.required else " = None"
        if field.name != wire:
            default = f' = Field(alias="{wire}")' if field.required else f' = Field(None, alias="{wire}")'
        lines += [f"    {field.name}: {kind}{default}", *_told(schema)]
    return "\n".join(lines)


def typed_dict(description: Description, name: str, both: frozenset[str], otherwise: str) -> str:
    """The class of an object that is given. `otherwise` as in `model`."""
    shape = description.components[name]
    needed = shape.get("required", ())
    lines = [
        f"class {input_name(name, both)}(TypedDict, total=False):",
        *_docstring(_said_of(shape) or otherwise),
    ]
    for wire, schema in shape["properties"].items():
        kind = type_in(description, schema, both)
        kind = or_none(kind) if can_be_null(schema) else kind
        lines += [f"    {wire}: {f'Required[{kind}]' if wire in needed else kind}", *_told(schema)]
    return "\n".join(lines)


def _said_of(shape: dict[str, Any]) -> str:
    """What describes a component; most requests have their base class's words, which are about the server."""
    text = str(shape.get("description", ""))
    return "" if text.startswith("Refuses fields") else text


def _docstring(text: str) -> list[str]:
    return [f'    """{_filled(text)}"""', ""]


def _told(schema: dict[str, Any]) -> list[str]:
    """What the description says of a field, below it."""
    text = schema.get("description", "")
    return [f'    """{_filled(text)}"""'] if prose(text) else []


def _filled(text: str) -> str:
    return fill(prose(text), width=100, subsequent_indent="    ")
