"""Who a stream's request says that it is from, to be asked again for as long as the stream is open."""

from dataclasses import dataclass, field

from django.http import HttpRequest

from api.authentication import caller_of
from tenants.caller import Caller
from tenants.errors import Forbidden, Unauthenticated

KEY = ("HTTP_AUTHORIZATION", "HTTP_X_API_KEY")
WITHOUT_KEY = ("REMOTE_ADDR", "HTTP_HOST", "HTTP_ORIGIN", "HTTP_SEC_FETCH_SITE")


@dataclass(frozen=True, slots=True)
class Credentials:
    """Of requests that were sent with the same, one answer holds for all."""

    sent: tuple[str, ...]
    request: HttpRequest = field(compare=False, repr=False)

    def caller(self) -> Caller | None:
        """Whom they let in now; None: nobody any more. In a thread."""
        try:
            return caller_of(self.request)
        except (Unauthenticated, Forbidden):
            return None


def credentials_of(request: HttpRequest) -> Credentials:
    """The key or token that came with the request; without one, what else tells who may be let in."""
    key = tuple(request.META.get(name, "") for name in KEY)
    without = tuple(request.META.get(name, "") for name in WITHOUT_KEY)
    return Credentials(key if any(key) else without, request)
