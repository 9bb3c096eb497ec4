"""What a client sends about an agent: the plain document, or a Kubernetes resource as JSON or YAML."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from tenants.agents.spec import LONGEST_NAME, Document, Places, Text, check_document, invalid
from tenants.errors import Invalid

DEEPEST = 50  # levels of nesting in YAML
MOST_VALUES = 20_000  # in a YAML document, with its aliases written out
TIMESTAMP = "tag:yaml.org,2002:timestamp"
MERGE = "tag:yaml.org,2002:merge"
IN_RESOURCE: Places = {
    "memory": ("spec", "memory"),
    "toolHooks": ("spec", "toolHooks"),
    "kaos": ("spec", "config", "memory"),
}


@dataclass(frozen=True, slots=True)
class Declared:
    """A document and whose it is."""

    name: str
    document: Document


R = TypeVar("R", bound=BaseModel)


class _Part(BaseModel):
    """Of a resource: the fields that are read; it has many more."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, alias_generator=to_camel)


class _Metadata(_Part):
    name: Annotated[Text, Field(min_length=1, max_length=LONGEST_NAME)]


class _Config(_Part):
    memory: Any = None


class _Spec(_Part):
    memory: Any = None
    tool_hooks: Any = None
    config: _Config | None = None


class _Resource(_Part):
    api_version: Annotated[str, Field(min_length=1)]
    kind: Literal["Agent"]
    metadata: _Metadata
    spec: _Spec


class _Named(_Part):
    """Of a resource what is left where something else says whose it is."""

    spec: _Spec


def read_declaration(data: Any, *, name: str | None = None) -> Declared:
    """What is declared of the agent of that name; None: of the one that the resource names. With a name, the
    resource's `spec` alone will do. Raises Invalid naming the field; TooLarge."""
    if isinstance(data, dict) and (name is None or not data.keys().isdisjoint(("apiVersion", "kind"))):
        resource = _checked(_Resource, data)
        if name not in (None, resource.metadata.name):
            raise Invalid("Must be the agent's name as the path has it.", "metadata.name")
        declared = _declared(resource.metadata.name, resource.spec)
    elif name is not None and isinstance(data, dict) and data.keys() == {"spec"}:
        declared = _declared(name, _checked(_Named, data).spec)
    elif name is None or not isinstance(data, dict):
        raise Invalid("Must be an object.")
    else:
        declared = Declared(name, check_document(name, data))
    if declared.name.endswith("/"):
        raise Invalid("May not end in a slash.", "metadata.name" if name is None else "name")
    return declared


def unfold(data: Any) -> list[Any]:
    """The resources of a Kubernetes List; anything else is one. Raises Invalid."""
    if not isinstance(data, dict) or data.get("kind") != "List":
        return [data]
    if not isinstance(items := data.get("items"), list):
        raise Invalid("Must be a list.", "items")
    return items


def parse_yaml(source: bytes) -> list[Any]:
    """The documents of a YAML text. Raises Invalid for what is not YAML, for tags of other types, for names
    that stand twice, and for more levels or values than any agent needs."""
    try:
        text = source.decode("utf-8-sig")
        _bound(text)
        return list(yaml.load_all(text, Loader=_Loader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Invalid(f"This is not valid YAML: {_reason(error)}") from error


def parse_json(source: bytes) -> Any:
    """The value of a JSON text. Raises Invalid."""
    try:
        return json.loads(source.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Invalid(f"This is not valid JSON: {_reason(error)}") from error


def as_yaml(spec: Mapping[str, Any]) -> str:
    """What is declared, as people write it."""
    return yaml.safe_dump(dict(spec), sort_keys=False, allow_unicode=True, width=100)


class _Loader(yaml.CSafeLoader):
    """Reads dates as the text that they are, as Kubernetes does, and no name twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _value in node.value if _is_plain(key)]
        if len(names) > len(set(names)):
            twice = next(name for name in names if names.count(name) > 1)
            raise yaml.constructor.ConstructorError(
                None, None, f"{twice[:100]!r} stands twice", node.start_mark
            )
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in resolvers if tag != TIMESTAMP]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _is_plain(key: yaml.Node) -> bool:
    return isinstance(key, yaml.ScalarNode) and key.tag != MERGE


def _checked(kind: type[R], data: dict[Any, Any]) -> R:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise invalid(error) from error


def _declared(name: str, spec: _Spec) -> Declared:
    parts = {
        "memory": spec.memory,
        "toolHooks": spec.tool_hooks,
        "kaos": spec.config.memory if spec.config else None,
    }
    document = check_document(name, parts, where=IN_RESOURCE)
    if spec.memory is not None and document.memory.server_ref is None:
        raise Invalid("This field is required.", "spec.memory.serverRef")
    return Declared(name, document)


def _bound(text: str) -> None:
    """Reads the text's events, which takes no stack, and counts what its aliases amount to."""
    anchors: dict[str, int] = {}
    within: list[_Open] = []
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            within.append(_Open(event.anchor))
            if len(within) > DEEPEST:
                raise ValueError(f"it is nested deeper than {DEEPEST} levels")
            continue
        ended = _ended(event, within, anchors)
        if ended.anchor:
            anchors[ended.anchor] = ended.values
        if within:
            within[-1].values += ended.values
        if max(ended.values, within[-1].values if within else 0) > MOST_VALUES:
            raise ValueError(f"it holds more than {MOST_VALUES} values")


@dataclass(slots=True)
class _Open:
    """A value, with those in it so far."""

    anchor: str | None
    values: int = 1


def _ended(event: yaml.Event, within: list[_Open], anchors: dict[str, int]) -> _Open:
    """The value that the event ends, perhaps none."""
    if isinstance(event, yaml.CollectionEndEvent):
        return within.pop()
    if isinstance(event, yaml.ScalarEvent):
        return _Open(event.anchor)
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            raise ValueError(f"the alias {str(event.anchor)[:100]!r} names nothing before it")
        return _Open(None, anchors[event.anchor])
    return _Open(None, 0)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    problem, mark = getattr(error, "problem", None), getattr(error, "problem_mark", None)
    told = problem or str(error).partition("\n")[0]
    return f"{told[:200]} (line {mark.line + 1})" if mark is not None else told[:200]
