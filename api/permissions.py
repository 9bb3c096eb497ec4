"""Each view says which scope each of its methods needs."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from tenants.caller import Caller
from tenants.errors import Forbidden


class HasScope(BasePermission):
    """Reads `scopes = {"GET": "read", …}` from the view, or several of which one is enough: `{"GET": ("read",
    "privacy")}`. A method that is missing there is refused."""

    def has_permission(self, request: Request, view: Any) -> bool:
        caller: object = request.auth
        if request.method == "OPTIONS" or not hasattr(view, str(request.method).lower()):
            return True  # a method that the view lacks is answered 405
        needed = getattr(view, "scopes", {}).get("GET" if request.method == "HEAD" else request.method, ())
        either = needed if isinstance(needed, tuple) else (needed,)
        if not isinstance(caller, Caller) or not any(caller.may(scope) for scope in either):
            raise Forbidden(f"This needs a key with scope {' or '.join(either)}.")
        return True
