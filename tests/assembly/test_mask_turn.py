import json

import pytest

from recall.masking import mask_turn, mask_value
from working.types import Turn

CARD = "4111 1111 1111 1111"


def test_a_turn_without_anything_sensitive_is_the_same_object():
    turn = Turn(1, "user", "My dog is called Rex.", tool_calls=[{"id": "a", "function": {"arguments": "{}"}}])
    assert mask_turn(turn) is turn


@pytest.mark.parametrize(("text", "expected"), [
    (f"It is {CARD}.", "It is [card]."),
    ("my password is hunter2222", "my password is [secret]"),
    (json.dumps({"card": CARD, "n": 1}), json.dumps({"card": "[card]", "n": 1})),
    (f"{{not json {CARD}", "{not json [card]"),
])  # fmt: skip
def test_what_is_sensitive_is_masked_and_json_stays_json(text, expected):
    assert mask_turn(Turn(1, "tool", text)).content == expected


def test_calls_and_contents_in_parts_are_masked_too():
    parts = [{"type": "text", "text": f"It is {CARD}."}, {"type": "image", "n": 1}]
    arguments = json.dumps({"number": CARD})
    calls = [{"id": "a", "function": {"name": "pay", "arguments": arguments}}]
    masked = mask_turn(Turn(1, "assistant", parts, tool_calls=calls))
    assert masked.content == [{"type": "text", "text": "It is [card]."}, {"type": "image", "n": 1}]
    assert json.loads(masked.tool_calls[0]["function"]["arguments"]) == {"number": "[card]"}
    assert calls[0]["function"]["arguments"] == arguments, "the turn itself stays as it was"


@pytest.mark.parametrize(
    "value", [None, True, 1.5, [], {}, {"a": [None, {"b": "c"}]}, "{" * 5_000, "[" * 100_000]
)
def test_any_other_json_value_stays(value):
    assert mask_value(value) is value
