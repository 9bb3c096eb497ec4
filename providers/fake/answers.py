"""Answers without a model: JSON that a schema admits, made from the text of the prompt. Pure."""

import json
import re
from collections import Counter
from typing import Any

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
TAG = re.compile(r"</?[\w-]+>")
WORD = re.compile(r"[^\W\d_]{4,}")
TOPICS = 3


def find_schema(body: dict[str, Any]) -> dict[str, Any] | None:
    """The schema that the answer should have: of `response_format`, or the one that stands in a message."""
    asked = body.get("response_format") or {}
    if asked.get("type") == "json_schema":
        schema: dict[str, Any] = asked["json_schema"]["schema"]
        return schema
    for message in body["messages"]:
        text = str(message.get("content"))
        for start in (found.start() for found in re.finditer(r"\{", text)):
            try:
                value, _end = json.JSONDecoder().raw_decode(text, start)
            except ValueError:
                continue
            if isinstance(value, dict) and "properties" in value:
                return value
    return None


def source_text(messages: list[dict[str, Any]]) -> str:
    """What the answer is made from: the fenced text of the first user message, or all of it."""
    text = next((str(one.get("content")) for one in messages if one.get("role") == "user"), "")
    fenced = re.search(r"<([\w-]+)>\n?(.*?)\n?</\1>", text, re.DOTALL)
    return TAG.sub("", fenced[2] if fenced else text).strip()


def fill(schema: dict[str, Any], text: str) -> Any:
    """A value that `schema` admits. Objects and lists of sentences are made from `text`."""
    return _Filler(schema, text).value(schema, "", text)


class _Filler:
    def __init__(self, root: dict[str, Any], text: str) -> None:
        self._root = root
        self._sentences = [part.strip() for part in SENTENCE.split(text) if part.strip()]

    def value(self, schema: dict[str, Any], name: str, text: str) -> Any:
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object" or "properties" in schema:
            properties = schema.get("properties", {})
            return {key: self.value(part, key, text) for key, part in properties.items()}
        if kind == "array":
            return self._array(schema, name, text)
        if kind == "string":
            return self._string(schema, name, text)
        return {"integer": 1, "number": 0.5, "boolean": False}.get(str(kind)) if kind != "null" else None

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while True:
            if "$ref" in schema:
                target: Any = self._root
                for step in schema["$ref"].removeprefix("#/").split("/"):
                    target = target[step]
                schema = target
            elif alternatives := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
                schema = next((one for one in alternatives if one.get("type") != "null"), {"type": "null"})
            else:
                return schema

    def _array(self, schema: dict[str, Any], name: str, text: str) -> list[Any]:
        item = self._resolved(schema.get("items", {"type": "string"}))
        if item.get("type") == "string" and "enum" not in item:
            if name in {"facts", "decisions", "key_decisions"}:
                return self._sentences[:10]
            return self._topics(text)
        return [self.value(item, name, sentence) for sentence in self._sentences[:5]]

    def _topics(self, text: str) -> list[str]:
        words = Counter(word.lower() for word in WORD.findall(text))
        return [word for word, _count in sorted(words.items(), key=lambda one: (-one[1], one[0]))[:TOPICS]]

    def _string(self, schema: dict[str, Any], name: str, text: str) -> str:
        if name == "outcome":
            made = self._sentences[-1] if self._sentences else ""
        elif name in {"summary", "text", "fact", "content"}:
            made = " ".join(SENTENCE.split(text)[:20])
        else:
            made = f"{name or 'value'} of {len(self._sentences)} sentences"
        bounds = [
            int(number) for number in re.findall(r"At most (\d+) characters", schema.get("description", ""))
        ]
        return made[: min([400, schema.get("maxLength", 400), *bounds])] or "nothing"


def off_schema(value: Any) -> Any:
    """The same with every field under a wrong name: valid JSON that no schema admits."""
    if isinstance(value, dict):
        return {f"not_{key}": part for key, part in value.items()}
    return {"not_it": value}
