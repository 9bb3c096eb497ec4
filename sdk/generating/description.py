"""The API's description as the generator sees it: operations with their parameters and fields."""

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .names import BY_HAND, NAMES, Named

PREFIX = "/api/v1/"
IDEMPOTENCY = "Idempotency-Key"
DEFAULTED = ("user_id", "agent_id")


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter or a field of a body: its name on the wire and its schema."""

    wire: str
    schema: dict[str, Any]
    required: bool
    description: str

    @property
    def name(self) -> str:
        """In Python: `toolHooks` is tool_hooks, `from` is from_, `If-Match` if_match."""
        name = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", self.wire).lower().replace("-", "_")
        return f"{name}_" if keyword.iskeyword(name) else name


@dataclass(frozen=True, slots=True)
class Described:
    """An operation."""

    named: Named
    verb: str
    path: str
    summary: str
    in_path: tuple[Field, ...]
    query: tuple[Field, ...]
    headers: tuple[Field, ...]
    body: tuple[Field, ...] | None  # None: there is none, or it is one value
    takes_value: bool  # the body is one value, of any JSON
    many: str | None  # the component of which the body is a list
    answers: tuple[dict[str, Any], ...]  # the schemas of success, without repetition
    is_binary: bool
    is_write: bool


class Description:
    """An OpenAPI document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.components: dict[str, dict[str, Any]] = document["components"]["schemas"]
        self.operations = tuple(self._operations(document["paths"]))

    def resolve(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema itself, behind references and an `allOf` of one."""
        while True:
            if "$ref" in schema:
                schema = self.components[name_of(schema)]
            elif len(schema.get("allOf", ())) == 1:
                schema = schema["allOf"][0]
            else:
                return schema

    def reached(self, schema: Any) -> set[str]:
        """The components that a schema is made of, at any depth."""
        found: set[str] = set()
        todo = [schema]
        while todo:
            one = todo.pop()
            if isinstance(one, list):
                todo += one
            elif isinstance(one, dict):
                if "$ref" in one and name_of(one) not in found:
                    found.add(name_of(one))
                    todo.append(self.components[name_of(one)])
                todo += list(one.values())
        return found

    def _operations(self, paths: dict[str, Any]) -> Iterator[Described]:
        there = {
            operation["operationId"]: (verb, path, operation)
            for path, verbs in paths.items()
            for verb, operation in verbs.items()
            if path.startswith(PREFIX) and verb != "parameters"
        }
        known = {one.operation for one in NAMES} | set(BY_HAND)
        if nameless := set(there) - known:
            raise LookupError(f"These need a name in sdk/generating/names.py: {sorted(nameless)}")
        if gone := known - set(there):
            raise LookupError(f"sdk/generating/names.py names what is not there: {sorted(gone)}")
        for named in NAMES:
            verb, path, operation = there[named.operation]
            yield self._described(named, verb, path.rstrip("/"), operation)

    def _described(self, named: Named, verb: str, path: str, operation: dict[str, Any]) -> Described:
        parameters = [
            (
                one["in"],
                Field(one["name"], one["schema"], one.get("required", False), one.get("description", "")),
            )
            for one in operation.get("parameters", ())
        ]
        in_path = {field.wire: field for place, field in parameters if place == "path"}
        in_order = tuple(in_path[name] for name in re.findall(r"\{(\w+)\}", path))
        content = operation.get("requestBody", {}).get("content", {})
        media_type = "multipart/form-data" if named.form else "application/json"
        schema = content.get(media_type, {}).get("schema")
        fields = self._fields(schema) if schema is not None and schema != {} and named.many is None else None
        taken = {*in_path, *(field.wire for field in fields or ())}
        headers = [field for place, field in parameters if place == "header"]
        answers = [
            found["schema"]
            for status, answer in operation["responses"].items()
            if status.startswith("2")
            for found in answer.get("content", {}).values()
        ]
        return Described(
            named=named,
            verb=verb.upper(),
            path=path,
            summary=operation["summary"].rstrip("."),
            in_path=in_order,
            query=tuple(field for place, field in parameters if place == "query" and field.wire not in taken),
            headers=tuple(field for field in headers if field.wire != IDEMPOTENCY),
            body=fields,
            takes_value=schema == {},
            many=name_of(schema) if named.many is not None else None,
            answers=tuple(one for place, one in enumerate(answers) if one not in answers[:place]),
            is_binary=any(one.get("format") == "binary" for one in answers),
            is_write=any(field.wire == IDEMPOTENCY for field in headers),
        )

    def _fields(self, schema: dict[str, Any]) -> tuple[Field, ...]:
        shape = self.resolve(schema)
        needed = shape.get("required", ())
        fields = [
            Field(name, one, name in needed, one.get("description", ""))
            for name, one in shape["properties"].items()
        ]
        return tuple(sorted(fields, key=lambda field: not field.required))


def name_of(schema: dict[str, Any]) -> str:
    """The component that a reference leads to."""
    return str(schema["$ref"]).rpartition("/")[2]
