"""From a request to its caller."""

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from tenants import log_context
from tenants.anonymous import anonymous_caller
from tenants.api_keys import PREFIX, authenticate
from tenants.caller import Caller


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer mem_…`, `X-API-Key: mem_…`, or a JSON Web Token as the bearer where they are
    taken; without any of these, the anonymous tenant if there is one."""

    def authenticate(self, request: Request) -> tuple[Caller, Caller]:
        caller = caller_of(request._request)
        log_context.bind_caller(caller)
        return caller, caller

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="strata"'


def caller_of(request: HttpRequest) -> Caller:
    """Who sent the request. Raises Unauthenticated."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else ""
    if key and settings.JWT_ALGORITHMS and not key.startswith(f"{PREFIX}_"):
        from tenants.tokens import authenticate_token  # its libraries take 20 MB, where nobody may need them

        return authenticate_token(key)
    key = key or request.META.get("HTTP_X_API_KEY", "").strip()
    if key or scheme:
        return authenticate(key)
    return anonymous_caller(
        address=request.META.get("REMOTE_ADDR", ""), from_other_site=_is_from_other_site(request)
    )


def _is_from_other_site(request: HttpRequest) -> bool:
    """Whether a browser sent it for another web page: it says so, or names a host that is not ours.

    The latter is DNS rebinding: the page's own name is made to point at this machine, and the browser takes
    the two for one site.
    """
    try:
        request.get_host()
    except DisallowedHost:
        return True
    origin = request.META.get("HTTP_ORIGIN")
    if origin is not None and origin.partition("://")[2] != request.get_host():
        return True  # browsers that do not send the next header
    return request.META.get("HTTP_SEC_FETCH_SITE", "none") in {"cross-site", "same-site"}
