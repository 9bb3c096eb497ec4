# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `audit`."""

from ..calls import Operation
from ..models.audit import AuditPage

LIST: Operation[AuditPage] = Operation("GET", "/api/v1/audit", answer=AuditPage)
