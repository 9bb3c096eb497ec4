# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `observations`."""

from ..calls import Operation
from ..models.observations import Observation, ObservationPage, ObservationRevisionPage

LIST: Operation[ObservationPage] = Operation("GET", "/api/v1/observations", answer=ObservationPage)
GET: Operation[Observation] = Operation("GET", "/api/v1/observations/{observation_id}", answer=Observation)
RESTORE: Operation[Observation] = Operation(
    "POST", "/api/v1/observations/{observation_id}/restore", answer=Observation, is_write=True
)
REVISIONS: Operation[ObservationRevisionPage] = Operation(
    "GET", "/api/v1/observations/{observation_id}/revisions", answer=ObservationRevisionPage
)
