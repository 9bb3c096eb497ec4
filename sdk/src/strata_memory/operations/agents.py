# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `agents`."""

from ..calls import Operation
from ..models.agents import DeclaredAgent, DeclaredAgentPage

LIST: Operation[DeclaredAgentPage] = Operation("GET", "/api/v1/agents", answer=DeclaredAgentPage)
GET: Operation[DeclaredAgent] = Operation("GET", "/api/v1/agents/{name}", answer=DeclaredAgent)
PUT: Operation[DeclaredAgent] = Operation("PUT", "/api/v1/agents/{name}", answer=DeclaredAgent, is_write=True)
DELETE: Operation[None] = Operation("DELETE", "/api/v1/agents/{name}", is_write=True)
