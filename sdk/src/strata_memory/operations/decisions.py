# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `decisions`."""

from ..calls import Operation
from ..models.decisions import DecisionPage
from ..models.several import Decision

LIST: Operation[DecisionPage] = Operation("GET", "/api/v1/write-decisions", answer=DecisionPage)
GET: Operation[Decision] = Operation("GET", "/api/v1/write-decisions/{decision_id}", answer=Decision)
CONFIRM: Operation[Decision] = Operation(
    "POST", "/api/v1/write-decisions/{decision_id}/confirm", answer=Decision, is_write=True
)
REJECT: Operation[Decision] = Operation(
    "POST", "/api/v1/write-decisions/{decision_id}/reject", answer=Decision, is_write=True
)
