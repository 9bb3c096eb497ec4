"""A person with memories in every kind, and their browser."""

import re
from dataclasses import dataclass

import httpx
import pytest

from tests.conftest import Member
from tests.console.conftest import browse, chromium, picture  # noqa: F401  fixtures
from tests.console.people import TOKEN

# As wide as no telephone is, and nowhere to break it.
LONG = "chat_" + "0123456789" * 7
CARD = "<script>alert(1)</script> ann\u202e keeps a saffron lantern"


@dataclass
class Visitor:
    """A person at their own pages."""

    member: Member
    user_id: str
    url: str
    http: httpx.Client

    def open(self, path: str = "", **params: str) -> httpx.Response:
        return self.http.get(f"/me/{path}", params=params)

    def submit(self, path: str, *, at: str | None = None, **fields: str) -> httpx.Response:
        token = TOKEN.search(self.open(path if at is None else at).text).group(1)
        return self.http.post(f"/me/{path}", data={"csrfmiddlewaretoken": token, **fields})

    def memory(self, text: str) -> str:
        """The address, below `/me/`, of the memory that shows the text."""
        rows = re.findall(r'href="/me/(memories/[^"]+)">(.*?)</a>', self.open().text, re.S)
        return next(path for path, shown in rows if text in shown)


def link_for(member: Member, user_id: str, **fields: int) -> str:
    answer = member.http.post(f"/api/v1/subjects/{user_id}/link", json=fields)
    assert answer.status_code == 201, answer.text
    return answer.json()["url"]


@pytest.fixture
def ann(acme: Member) -> Visitor:
    acme = acme.with_key(scopes=["admin"])
    http = acme.http
    http.put("/api/v1/entities/ann/home_city", json={"value": "Lisbon"}).raise_for_status()
    http.post("/api/v1/episodes", json={"user_id": "ann", "text": CARD}).raise_for_status()
    note = {"type": "decision", "title": "Channel", "content": "Ann wants email.", "project": "p"}
    own = acme.with_key(user_id="ann").http
    own.post("/observations", json=note | {"session_id": "s1"}).raise_for_status()
    turns = {"user_id": "ann", "turns": [{"role": "user", "content": "Where is my saffron lantern?"}]}
    http.post(f"/api/v1/sessions/{LONG}/turns", json=turns).raise_for_status()
    lease = {"title": "Lease", "content": "# Lease\nThe saffron lantern is Ann's.", "user_id": "ann"}
    http.post("/api/v1/documents", json=lease).raise_for_status()
    http.post("/api/v1/documents", json={"title": "Rules", "content": "For everybody."}).raise_for_status()
    http.post("/api/v1/episodes", json={"user_id": "bob", "text": "Bob has a secret."}).raise_for_status()
    url = link_for(acme, "ann")
    visitor = Visitor(acme, "ann", url, httpx.Client(base_url=http.base_url, timeout=30))
    assert visitor.http.get(url).headers["location"] == "/me/"
    return visitor
