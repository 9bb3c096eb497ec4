"""A pydantic model's JSON Schema in the subset that strict structured output admits. Pure."""

import json
from typing import Any

from pydantic import BaseModel

# Checked afterwards by pydantic; strict servers reject them. Bounds are told in the description instead.
LEFT_OUT = {"default", "title", "examples"}
TOLD = {
    "minLength": "At least {} characters.",
    "maxLength": "At most {} characters.",
    "minItems": "At least {} items.",
    "maxItems": "At most {} items.",
}


def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Every property required, no others allowed."""
    schema: dict[str, Any] = _strict(model.model_json_schema())
    return schema


def response_format(model: type[BaseModel], kind: str) -> dict[str, Any]:
    """The request's `response_format` of kind `json_schema` or `json_object`."""
    if kind != "json_schema":
        return {"type": kind}
    return {
        "type": "json_schema",
        "json_schema": {"name": model.__name__[:64], "strict": True, "schema": strict_schema(model)},
    }


def schema_text(model: type[BaseModel]) -> str:
    """The schema for a prompt."""
    return json.dumps(strict_schema(model), indent=1)


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return {"$ref": node["$ref"]}  # nothing may stand beside it
    strict = {key: _strict(value) for key, value in node.items() if key not in LEFT_OUT | TOLD.keys()}
    told = [sentence.format(node[key]) for key, sentence in TOLD.items() if isinstance(node.get(key), int)]
    if told:
        strict["description"] = " ".join([*([node["description"]] if "description" in node else []), *told])
    if isinstance(node.get("properties"), dict):
        # Not by `_strict`: a property may be called `title`.
        strict["properties"] = {name: _strict(value) for name, value in node["properties"].items()}
        strict["required"] = list(node["properties"])
        strict["additionalProperties"] = False
    if isinstance(node.get("$defs"), dict):
        strict["$defs"] = {name: _strict(value) for name, value in node["$defs"].items()}
    return strict
