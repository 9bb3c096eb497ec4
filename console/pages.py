"""What every page of the console is made of: a member of the tenant in the path, a scope for each method, a
template, and one way to say what went wrong."""

from typing import Any, ClassVar

from django.contrib import messages
from django.forms import Form
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views import View

from console.nav import sections_for
from tenants import log_context
from tenants.caller import Caller, Scope
from tenants.errors import Forbidden, Invalid, NotFound
from tenants.members import access_member
from tenants.scope import NoTenantScope
from tenants.statuses import status_of


class Page(View):
    """A page below `/console/<tenant>/`. A method without an entry in `scopes` is refused to everybody.

    Whoever is not signed in is sent to sign in; who is no member of the tenant is told that there is none.
    `section` is the name of the entry of the menu that it belongs to.
    """

    scopes: ClassVar[dict[str, Scope]] = {"GET": "read"}
    section: ClassVar[str] = ""
    caller: Caller

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return sent_to_sign_in(request)
        method = "GET" if request.method == "HEAD" else str(request.method)
        try:
            self.caller = access_member(user=request.user, tenant=kwargs.pop("tenant"))
            log_context.bind_caller(self.caller)
            if method not in self.scopes:
                return self._not_allowed()
            self._check_scope(method)
            return super().dispatch(request, *args, **kwargs)
        except Exception as error:  # raised again unless the table of statuses knows it
            problem = None if isinstance(error, NoTenantScope) else status_of(error)
            if problem is None:
                raise
            return self.refused(*problem)

    def show(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """The page; `template` is its name below `templates/console/`, without `.html`."""
        return render(self.request, f"console/{template}.html", self._about() | context, status=status)

    def refused(self, status: int, sentence: str) -> HttpResponse:
        """Why it cannot be had. htmx shows it where it would have shown the answer's message."""
        caller = getattr(self, "caller", None)
        about = self._about() if caller else {}
        name = "_refused" if getattr(self.request, "htmx", False) else "refused"
        context = about | {"sentence": sentence, "status": status}
        return render(self.request, f"console/{name}.html", context, status=status)

    def _not_allowed(self) -> HttpResponse:
        """As for whoever comes back from signing in to where a form was sent to."""
        page = self.refused(405, "This address only takes a form. Nothing was changed.")
        page.headers["Allow"] = ", ".join(self.scopes)
        return page

    def to(self, name: str, *args: Any, query: str = "", **kwargs: Any) -> HttpResponseRedirect:
        """To another page of this tenant, after a change."""
        address = self.address(name, *args, **kwargs)
        return HttpResponseRedirect(f"{address}?{query}" if query else address)

    def address(self, name: str, *args: Any, **kwargs: Any) -> str:
        """The path of another page of this tenant."""
        if args:
            return reverse(f"console:{name}", args=[self.caller.tenant, *args])
        return reverse(f"console:{name}", kwargs={"tenant": self.caller.tenant, **kwargs})

    def say(self, text: str) -> None:
        """Says on the next page what was done."""
        messages.success(self.request, text)

    def _check_scope(self, method: str) -> None:
        needed = self.scopes[method]
        if not self.caller.may(needed):
            raise Forbidden(f"Your role in {self.caller.tenant} does not allow this.")

    def _about(self) -> dict[str, Any]:
        """What every template may use."""
        return {
            "tenant": self.caller.tenant,
            "caller": self.caller,
            "section": self.section,
            "groups": sections_for(self.caller),
            "may_write": self.caller.may("write"),
            "may_privacy": self.caller.may("privacy"),
            "may_admin": self.caller.may("admin"),
        }


def sent_to_sign_in(request: HttpRequest) -> HttpResponse:
    """To the sign-in page and back; htmx must not put that page into the middle of another."""
    if getattr(request, "htmx", False):
        return HttpResponse(status=401, headers={"HX-Redirect": reverse("sign-in")})
    return HttpResponseRedirect(f"{reverse('sign-in')}?{urlencode({'next': request.get_full_path()})}")


def add_error(form: Form, error: Invalid) -> None:
    """Puts all that the domain found wrong beside the fields that it names, or above all of them."""
    for one in (error, *error.others):
        name = one.field.partition(".")[0]
        form.add_error(name if name in form.fields else None, str(one))


def missing(what: str) -> NotFound:
    """For an id in a path that cannot be one."""
    return NotFound(f"There is no such {what}.")
