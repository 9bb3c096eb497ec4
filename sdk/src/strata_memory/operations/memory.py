# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `memory`."""

from ..calls import Operation
from ..completing import with_slots
from ..models.memory import Assembled, RecallAnswer, Remembered

RECALL: Operation[RecallAnswer] = Operation(
    "POST", "/api/v1/recall", answer=RecallAnswer, complete=with_slots
)
REMEMBER: Operation[Remembered] = Operation(
    "POST", "/api/v1/remember", answer=Remembered, is_write=True, is_kept=True
)
ASSEMBLE: Operation[Assembled] = Operation("POST", "/api/v1/assemble", answer=Assembled, is_write=True)
