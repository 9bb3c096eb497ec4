"""pydantic models in the OpenAPI document, which is one of version 3.0: its schemas are older than theirs."""

from typing import Any

from drf_spectacular.drainage import set_override
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent
from pydantic import BaseModel

PREFIX = "Ams"  # the only dialect whose bodies are such models
REFERENCE = "#/components/schemas/" + PREFIX + "{model}"


class ModelExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    target_class = "pydantic.BaseModel"
    match_subclasses = True
    priority = 1  # before drf-spectacular's own, which writes newer schemas

    def get_name(self, auto_schema: object, direction: str) -> str:
        set_override(self.target, "suppress_collision_warning", True)  # a part of another is known by name
        return f"{PREFIX}{self.target.__name__}"

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        model: type[BaseModel] = self.target
        mode: Any = "validation" if direction == "request" else "serialization"
        schema = model.model_json_schema(ref_template=REFERENCE, mode=mode)
        for name, part in schema.pop("$defs", {}).items():
            component = ResolvedComponent(  # type: ignore[no-untyped-call]
                name=f"{PREFIX}{name}", type=ResolvedComponent.SCHEMA, object=name, schema=as_older(part)
            )
            auto_schema.registry.register_on_missing(component)
        return as_older(schema)


def as_older(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema as OpenAPI 3.0 writes it: without the null type, `const` and titles that only repeat
    the name."""
    older = {name: _part(name, value) for name, value in schema.items() if name not in {"title", "const"}}
    if schema.get("type") == "null":
        return {"nullable": True}
    if "const" in schema:
        older["enum"] = [schema["const"]]
    if "exclusiveMinimum" in older:
        older |= {"minimum": older["exclusiveMinimum"], "exclusiveMinimum": True}
    if older.get("default", ...) is None:
        del older["default"]
    if "$ref" in older and len(older) > 1:
        older = {"allOf": [{"$ref": older.pop("$ref")}], **older}
    return _without_null(older)


def _part(name: str, value: Any) -> Any:
    if name == "properties":
        return {key: as_older(one) for key, one in value.items()}
    if name in {"anyOf", "oneOf", "allOf"}:
        return [one if one == {"type": "null"} else as_older(one) for one in value]
    if name in {"items", "additionalProperties"} and isinstance(value, dict):
        return as_older(value)
    return value


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    choices = schema.get("anyOf", [])
    if {"type": "null"} not in choices:
        return schema
    left = [one for one in choices if one != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name != "anyOf"} | {"nullable": True}
    if len(left) > 1:
        return {"anyOf": left, **rest}
    return {"allOf": left, **rest} if "$ref" in left[0] else {**left[0], **rest}
