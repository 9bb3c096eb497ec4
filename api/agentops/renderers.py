"""JSON as Go's encoder writes it: safe inside HTML and scripts, with a line's end."""

import json
from collections.abc import Mapping
from typing import Any

from api.renderers import JSONRenderer

ESCAPES = str.maketrans({one: f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"})


def dump(value: Any) -> str:
    """A value as one line without its end. Those characters stand inside strings only."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(ESCAPES)


class GoJSONRenderer(JSONRenderer):
    """The dialect's answers; times are text already."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else (dump(data) + "\n").encode()
