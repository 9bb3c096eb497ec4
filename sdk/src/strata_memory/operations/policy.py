# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `policy`."""

from typing import Any

from ..calls import Operation
from ..models.policy import Policy, PolicyDiff, PolicyVersionPage

GET: Operation[Policy] = Operation("GET", "/api/v1/policy", answer=Policy)
CHANGE: Operation[Policy] = Operation(
    "PATCH", "/api/v1/policy", answer=Policy, nulls=frozenset({"agent_id", "version"}), is_write=True
)
DIFF: Operation[PolicyDiff] = Operation("GET", "/api/v1/policy/diff", answer=PolicyDiff)
ROLLBACK: Operation[Policy] = Operation("POST", "/api/v1/policy/rollback", answer=Policy, is_write=True)
SCHEMA: Operation[dict[str, Any]] = Operation("GET", "/api/v1/policy/schema", answer=dict[str, Any])
VERSIONS: Operation[PolicyVersionPage] = Operation("GET", "/api/v1/policy/versions", answer=PolicyVersionPage)
