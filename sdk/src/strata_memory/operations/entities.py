# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `entities`."""

from ..calls import Operation
from ..models.entities import EntityHistoryPage, EntityPage
from ..models.several import Decision, Entity

LIST: Operation[EntityPage] = Operation("GET", "/api/v1/entities", answer=EntityPage)
GET: Operation[Entity] = Operation("GET", "/api/v1/entities/{user_id}/{key}", answer=Entity)
PUT: Operation[Entity | Decision] = Operation(
    "PUT",
    "/api/v1/entities/{user_id}/{key}",
    answer=Entity | Decision,
    nulls=frozenset({"value"}),
    is_write=True,
    is_kept=True,
)
DELETE: Operation[None] = Operation("DELETE", "/api/v1/entities/{user_id}/{key}", is_write=True)
CONFIRM: Operation[Entity] = Operation(
    "POST", "/api/v1/entities/{user_id}/{key}/confirm", answer=Entity, is_write=True
)
HISTORY: Operation[EntityHistoryPage] = Operation(
    "GET", "/api/v1/entities/{user_id}/{key}/history", answer=EntityHistoryPage
)
PIN: Operation[Entity] = Operation(
    "POST", "/api/v1/entities/{user_id}/{key}/pin", answer=Entity, is_write=True
)
UNPIN: Operation[Entity] = Operation(
    "POST", "/api/v1/entities/{user_id}/{key}/unpin", answer=Entity, is_write=True
)
