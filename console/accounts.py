"""Signing in and out, and the choice of a tenant."""

from typing import Any

from django.contrib.auth import login, logout
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View

from console.pages import sent_to_sign_in
from tenants.attempts import is_locked, note_failure
from tenants.members import list_memberships
from tenants.router import admin_role

WAIT = "Too many failed sign-ins. Try again in five minutes."


class SignInView(View):
    """`/sign-in`"""

    def get(self, request: HttpRequest) -> HttpResponse:
        return _form(request, AuthenticationForm(request))

    def post(self, request: HttpRequest) -> HttpResponse:
        name, address = request.POST.get("username", ""), request.META.get("REMOTE_ADDR", "")
        form = AuthenticationForm(request, data=request.POST)
        if is_locked(name=name, address=address):
            return _form(request, AuthenticationForm(request), status=429, refusal=WAIT)
        with admin_role():
            if form.is_valid():
                login(request, form.get_user())  # a new session id: one that was planted is worth nothing
                return HttpResponseRedirect(_next(request))
        note_failure(name=name, address=address)
        return _form(request, form, status=422)


class SignOutView(View):
    """`/sign-out`"""

    def post(self, request: HttpRequest) -> HttpResponse:
        with admin_role():
            logout(request)
        return HttpResponseRedirect(reverse("sign-in"))


class TenantsView(View):
    """`/console/`: straight to the only tenant, or the choice."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if not request.user.is_authenticated:
            return sent_to_sign_in(request)
        memberships = list_memberships(user=request.user)
        if len(memberships) == 1 and "choose" not in request.GET:
            return HttpResponseRedirect(reverse("console:overview", args=[memberships[0].tenant]))
        return render(request, "console/tenants.html", {"memberships": memberships})


def _next(request: HttpRequest) -> str:
    """Where the person wanted to go, if that is ours."""
    target = request.POST.get("next", "")
    hosts = {request.get_host()}
    is_ours = url_has_allowed_host_and_scheme(target, hosts, require_https=request.is_secure())
    return target if target and is_ours else resolve_url("console:tenants")


def _form(
    request: HttpRequest, form: AuthenticationForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    target = request.POST.get("next", request.GET.get("next", ""))
    return render(request, "console/sign_in.html", {"form": form, "next": target, **context}, status=status)
