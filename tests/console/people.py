"""People of the browser pages: signed in, in a role, with a client of their own."""

import re
import secrets
from dataclasses import dataclass
from typing import Any

import httpx
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User

from tenants.browser import SessionStore
from tenants.members import access_member, add_member
from tenants.models import Role, Tenant
from tenants.router import admin_role

BACKEND = "tenants.browser.AccountBackend"
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass
class Person:
    """A member of one tenant, signed in at the running server."""

    user: User
    tenant: Tenant
    http: httpx.Client
    token: str = ""  # for forms, once it was asked for

    @property
    def caller(self) -> Any:
        return access_member(user=self.user, tenant=self.tenant.slug)

    def path(self, rest: str = "") -> str:
        return f"/console/{self.tenant.slug}/{rest}".rstrip("/")

    def open(self, rest: str = "", **params: Any) -> httpx.Response:
        """A page of the person's tenant."""
        return self.http.get(self.path(rest), params=params)

    def submit(self, rest: str, *, at: str | None = None, **fields: Any) -> httpx.Response:
        """Sends a form to `rest` with the token of the page `at`, by default the same, following nothing."""
        token = TOKEN.search(self.open(rest if at is None else at).text)
        assert token, "the page has no form"
        return self.http.post(self.path(rest), data={"csrfmiddlewaretoken": token.group(1), **fields})


def signed_in(tenant: Tenant, url: str, role: str = Role.ADMIN) -> Person:
    """A new person in that role. The session is made directly: checking a password takes long, and one test
    does it."""
    with admin_role():
        user = User(username=f"{role}-{secrets.token_hex(4)}")
        user.set_unusable_password()
        user.save()
    add_member(tenant=tenant, user=user, role=role, actor="test")
    http = httpx.Client(base_url=url, cookies={"sessionid": session_of(user)}, timeout=30)
    return Person(user, tenant, http)


def session_of(user: User) -> str:
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = BACKEND
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)
