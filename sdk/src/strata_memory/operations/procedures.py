# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `procedures`."""

from ..calls import Operation
from ..models.procedures import DeployedProcedure, ProcedurePage

LIST: Operation[ProcedurePage] = Operation("GET", "/api/v1/procedures", answer=ProcedurePage)
GET: Operation[DeployedProcedure] = Operation("GET", "/api/v1/procedures/{name}", answer=DeployedProcedure)
