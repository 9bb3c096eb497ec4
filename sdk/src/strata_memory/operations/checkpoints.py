# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `checkpoints`."""

from typing import Any

from ..calls import Operation, Tagged
from ..models.checkpoints import WrittenCheckpoint

GET: Operation[Tagged[Any]] = Operation(
    "GET", "/api/v1/sessions/{session_id}/checkpoint", answer=Any, is_tagged=True
)
PUT: Operation[WrittenCheckpoint] = Operation(
    "PUT", "/api/v1/sessions/{session_id}/checkpoint", answer=WrittenCheckpoint, is_write=True
)
