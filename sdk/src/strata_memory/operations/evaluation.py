# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `evaluation`."""

from ..calls import Operation
from ..models.evaluation import SavedQuery, SavedQueryPage, Trial

LIST: Operation[SavedQueryPage] = Operation("GET", "/api/v1/evaluation/queries", answer=SavedQueryPage)
CREATE: Operation[SavedQuery] = Operation(
    "POST", "/api/v1/evaluation/queries", answer=SavedQuery, is_write=True
)
GET: Operation[SavedQuery] = Operation("GET", "/api/v1/evaluation/queries/{query_id}", answer=SavedQuery)
LABEL: Operation[SavedQuery] = Operation(
    "PATCH", "/api/v1/evaluation/queries/{query_id}", answer=SavedQuery, is_write=True
)
DELETE: Operation[None] = Operation("DELETE", "/api/v1/evaluation/queries/{query_id}", is_write=True)
TRIAL: Operation[Trial] = Operation("GET", "/api/v1/evaluation/trial", answer=Trial)
