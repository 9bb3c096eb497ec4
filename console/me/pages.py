"""What a person's pages have in common: whose they are stands in a sealed cookie, or in a token that the
caller's own identity provider has signed."""

from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.contrib import messages
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views import View

from tenants import log_context
from tenants.caller import Caller, Scope
from tenants.errors import Forbidden, Unauthenticated
from tenants.person_links import Visit, admit, open_sealed, seal
from tenants.scope import NoTenantScope, restricted_shown
from tenants.statuses import status_of

COOKIE = "person"
LONGEST_VISIT = timedelta(hours=1)  # of one who came by a token: the link's own end counts for the others


class PersonPage(View):
    """A page below `/me/`. Every function that it calls gets a caller who is bound to this one person."""

    scopes: ClassVar[dict[str, Scope]] = {"GET": "read"}
    section: ClassVar[str] = ""
    caller: Caller
    visit: Visit

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method not in self.scopes:
            return HttpResponseNotAllowed(self.scopes)
        try:
            self.visit = visitor(request)
            self.caller = self.visit.caller
            log_context.bind_caller(self.caller)
            if not self.caller.may(self.scopes[method]):
                raise Forbidden("Your link or token does not allow this.")
            with restricted_shown():  # their own, also while nobody else may use it
                return super().dispatch(request, *args, **kwargs)
        except Exception as error:  # raised again unless the table of statuses knows it
            problem = None if isinstance(error, NoTenantScope) else status_of(error)
            if problem is None:
                raise
            return self.refused(*problem)

    @property
    def user_id(self) -> str:
        return self.caller.user_id

    def show(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """The page; `template` is its name below `templates/console/me/`, without `.html`."""
        about = {
            "caller": self.caller,
            "section": self.section,
            "until": self.visit.until,
            "may_write": self.caller.may("write"),
            "may_privacy": self.caller.may("privacy"),
        }
        context |= about | {"status": status}
        return render(self.request, f"console/me/{template}.html", context, status=status)

    def refused(self, status: int, sentence: str) -> HttpResponse:
        """Why it cannot be had; to whom it is known whose pages these are, among these."""
        if not hasattr(self, "caller"):
            return refused(self.request, status, sentence)
        return self.show("refused", status=status, sentence=sentence)

    def to(self, name: str, *args: Any) -> HttpResponseRedirect:
        return HttpResponseRedirect(reverse(name, args=args))

    def say(self, text: str) -> None:
        messages.success(self.request, text)


def visitor(request: HttpRequest) -> Visit:
    """Whose pages these are, and until when. Raises Unauthenticated."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer" and settings.JWT_ALGORITHMS:
        return visit_by(token.strip())
    cookie = request.COOKIES.get(COOKIE)
    if cookie is None:
        raise Unauthenticated("Open the link that you were sent. Without one, nothing is shown here.")
    return open_sealed(cookie, now=timezone.now())


def visit_by(token: str) -> Visit:
    """The visit of the person whom a signed token names. Raises Unauthenticated."""
    from tenants.tokens import authenticate_dated  # its libraries take 20 MB, where nobody may need them

    caller, issued_at = authenticate_dated(token)
    return admit(caller=caller, issued_at=issued_at, until=timezone.now() + LONGEST_VISIT)


def enter(request: HttpRequest, token: str) -> HttpResponse:
    """`/me/enter/<token>`: takes the token out of the address, which histories and referrers would keep."""
    if request.method not in {"GET", "HEAD", "POST"}:
        return HttpResponseNotAllowed(["GET", "POST"])
    try:
        if token.count(".") == 2 and settings.JWT_ALGORITHMS:
            visit = visit_by(token)
        else:
            visit = open_sealed(token, now=timezone.now())
    except Unauthenticated as error:
        return refused(request, 401, str(error))
    if request.method != "POST" and _is_anothers(request, visit.caller):
        return render(request, "console/me/change.html", {"caller": visit.caller})
    return remembering(HttpResponseRedirect(reverse("me")), visit)


def remembering(response: HttpResponse, visit: Visit) -> HttpResponse:
    """Has the browser keep the visit, in a cookie that is as old as the link, and ends with it."""
    caller = visit.caller
    sealed = seal(
        tenant=caller.tenant,
        user_id=caller.user_id,
        scopes=caller.scopes,
        until=visit.until,
        made_at=visit.made_at,
    )
    response.set_cookie(
        COOKIE,
        sealed,
        expires=visit.until,
        path="/me",
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return response


def forgetting(response: HttpResponse) -> HttpResponse:
    """Has the browser forget the visit."""
    response.delete_cookie(COOKIE, path="/me")
    return response


def _is_anothers(request: HttpRequest, caller: Caller) -> bool:
    """Whether the browser shows somebody else's pages already: a link that another site leads to must not put
    its own person in their place unseen."""
    try:
        present = open_sealed(request.COOKIES.get(COOKIE, ""), now=timezone.now()).caller
    except Unauthenticated:
        return False
    return (present.tenant_id, present.user_id) != (caller.tenant_id, caller.user_id)


def leave(request: HttpRequest) -> HttpResponse:
    """`/me/leave`"""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    return forgetting(render(request, "console/me/left.html"))


def refused(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    return render(request, "console/me/refused.html", {"status": status, "sentence": sentence}, status=status)
