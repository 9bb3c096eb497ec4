# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `injections`."""

from ..calls import Operation
from ..models.injections import InjectionPage

LIST: Operation[InjectionPage] = Operation("GET", "/api/v1/injections", answer=InjectionPage)
