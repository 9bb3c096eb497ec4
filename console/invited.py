"""The page that an invitation leads to: joining with a new account, or with the one that is signed in."""

from typing import Any

from django import forms
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.debug import sensitive_post_parameters

from console.pages import add_error
from tenants.attempts import is_locked, note_failure
from tenants.errors import Conflict, Invalid, Unauthenticated
from tenants.invitations import Invited, open_invitation
from tenants.joining import TAKEN, account_problems, join, join_anew
from tenants.models import Member
from tenants.router import admin_role

WAIT = "Too many attempts from here. Try again in five minutes."
HINT = "At least 8 characters, not only digits, none that many people use, and unlike the name."


class AccountForm(forms.Form):
    """A new account; all that is wrong with it is said at once."""

    name = forms.CharField(
        label="Name",
        max_length=150,
        help_text="Letters, digits and @ . + - _ only. You sign in with it.",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    password = forms.CharField(
        label="Password",
        max_length=4_096,
        strip=False,
        help_text=HINT,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label="Password again",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        typed, name, password = set(given), given.get("name", ""), given.get("password", "")
        for one in account_problems(name=name, password=password):
            if one.field in typed:  # what is missing was said
                self.add_error(one.field, str(one))
        if password and given.get("again", password) != password:
            self.add_error("again", "This is another password.")
        return given

    @property
    def has_told(self) -> bool:
        """Whether its answer says who has an account here."""
        return TAKEN in self.errors.get("name", ())


@method_decorator(sensitive_post_parameters("password", "again"), name="dispatch")
class InvitationView(View):
    """`/invitation/<token>`"""

    token: str

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        self.token = kwargs.pop("token")
        if is_locked(name=self.token, address=self._address()):
            return self._refused(WAIT, status=429)
        try:
            return super().dispatch(request, *args, **kwargs)
        except Unauthenticated as error:
            note_failure(name=self.token, address=self._address())
            return self._refused(str(error), status=401)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._shown(self._opened(), AccountForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        invited = self._opened()
        if request.user.is_authenticated:
            try:
                join(token=self.token, user=request.user, now=timezone.now())
                return _to(invited)
            except Conflict as error:
                return self._shown(invited, AccountForm(), refusal=str(error), status=409)
        form = AccountForm(request.POST)
        if form.is_valid() and (member := self._join_anew(form)):
            with admin_role():
                login(request, member.user)
            return _to(invited)
        if form.has_told:
            note_failure(name=self.token, address=self._address())
        return self._shown(invited, form, status=422)

    def _join_anew(self, form: AccountForm) -> Member | None:
        name, password = form.cleaned_data["name"], form.cleaned_data["password"]
        try:
            return join_anew(token=self.token, name=name, password=password, now=timezone.now())
        except Invalid as error:  # somebody was faster
            add_error(form, error)
            return None

    def _opened(self) -> Invited:
        return open_invitation(token=self.token, now=timezone.now())

    def _shown(
        self, invited: Invited, form: AccountForm, *, status: int = 200, **context: Any
    ) -> HttpResponse:
        context |= {"invited": invited, "form": form, "here": self.request.path}
        return render(self.request, "console/invitation.html", context, status=status)

    def _refused(self, sentence: str, *, status: int) -> HttpResponse:
        return render(self.request, "console/invitation.html", {"sentence": sentence}, status=status)

    def _address(self) -> str:
        return str(self.request.META.get("REMOTE_ADDR", ""))


def _to(invited: Invited) -> HttpResponse:
    return HttpResponseRedirect(reverse("console:overview", args=[invited.tenant]))
