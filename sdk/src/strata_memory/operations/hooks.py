# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `hooks`."""

from ..calls import Operation
from ..models.hooks import LookedUp, RecordedResult

BEFORE_TOOL: Operation[LookedUp] = Operation(
    "POST", "/api/v1/hooks/before-tool", answer=LookedUp, nulls=frozenset({"args"}), is_write=True
)
TOOL_RESULT: Operation[RecordedResult] = Operation(
    "POST", "/api/v1/hooks/tool-result", answer=RecordedResult, nulls=frozenset({"args"}), is_write=True
)
