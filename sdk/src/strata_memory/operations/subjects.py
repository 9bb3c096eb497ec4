# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `subjects`."""

from ..calls import Operation
from ..models.several import Job
from ..models.subjects import PersonLinkAnswer, ReceiptKey, ReceiptPage, RestrictionState, SubjectMemory

DOWNLOAD_OWN_EXPORT: Operation[bytes] = Operation("GET", "/api/v1/exports/{token}", answer=bytes)
RECEIPT_KEY: Operation[ReceiptKey] = Operation("GET", "/api/v1/receipts/key", answer=ReceiptKey)
ERASE: Operation[Job] = Operation("POST", "/api/v1/subjects/{user_id}/erase", answer=Job, is_write=True)
EXPORT: Operation[Job] = Operation("POST", "/api/v1/subjects/{user_id}/export", answer=Job, is_write=True)
LINK: Operation[PersonLinkAnswer] = Operation(
    "POST", "/api/v1/subjects/{user_id}/link", answer=PersonLinkAnswer, is_write=True
)
UNLINK: Operation[None] = Operation("DELETE", "/api/v1/subjects/{user_id}/link", is_write=True)
RECEIPTS: Operation[ReceiptPage] = Operation("GET", "/api/v1/subjects/{user_id}/receipts", answer=ReceiptPage)
RECTIFY: Operation[SubjectMemory] = Operation(
    "POST", "/api/v1/subjects/{user_id}/rectify", answer=SubjectMemory, is_write=True
)
RESTRICTION: Operation[RestrictionState] = Operation(
    "GET", "/api/v1/subjects/{user_id}/restrict", answer=RestrictionState
)
RESTRICT: Operation[Job] = Operation("POST", "/api/v1/subjects/{user_id}/restrict", answer=Job, is_write=True)
LIFT_RESTRICTION: Operation[None] = Operation("DELETE", "/api/v1/subjects/{user_id}/restrict", is_write=True)
