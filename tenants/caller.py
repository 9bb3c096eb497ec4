"""Who is calling, and how far the key reaches."""

import hashlib
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from tenants.errors import Forbidden

Scope = Literal["read", "write", "ingest", "privacy", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "ingest", "privacy", "admin")
Kind = Literal["key", "jwt", "service", "client", "member", "admin", "anonymous"]
PRINCIPAL_LENGTH = 255  # of the columns that keep one


@dataclass(frozen=True, slots=True)
class Caller:
    """A resolved key, token or membership. An empty binding means that it is not bound in that respect.

    `key_id` is what its kind goes by: a key's id, the subject of a person's or service's token, the client of
    a service's token without one, a member's or operator's user name.
    """

    tenant_id: UUID
    tenant: str
    key_id: str
    scopes: frozenset[str]
    user_id: str = ""
    agent_id: str = ""
    project: str = ""
    kind: Kind = "key"

    is_authenticated = True  # what REST frameworks ask of a request's user

    @property
    def principal(self) -> str:
        """Who it is, for the audit log and for what belongs to one caller: `key:<key_id>`, `jwt:<subject>`,
        `service:<subject>`, `client:<client id>`, `member:<user name>`, `admin:<user name>` or `anonymous`.
        A name too long for the columns that keep it becomes `<kind>#<SHA-256>`: no short one looks so."""
        if self.kind == "anonymous":
            return self.kind
        name = f"{self.kind}:{self.key_id}"
        if len(name) <= PRINCIPAL_LENGTH:
            return name
        return f"{self.kind}#{hashlib.sha256(self.key_id.encode()).hexdigest()}"

    def may(self, scope: Scope) -> bool:
        """Whether the key carries `scope`; `admin` carries all."""
        return scope in self.scopes or "admin" in self.scopes

    @property
    def may_read_conversations(self) -> bool:
        """Whether it is shown what was said, word for word. A member is with the right to write; a key reads
        what it reaches."""
        return self.kind != "member" or self.may("write")

    def confine_user(self, user_id: str | None) -> str:
        """The user meant: the bound one, else the one named. Another than the bound is refused."""
        return _confine("user", self.user_id, user_id)

    def confine_agent(self, agent_id: str | None) -> str:
        """The agent meant, likewise."""
        return _confine("agent", self.agent_id, agent_id)

    def confine_project(self, project: str | None) -> str:
        """The project meant, likewise."""
        return _confine("project", self.project, project)


def _confine(kind: str, bound: str, named: str | None) -> str:
    if bound and named and named != bound:
        raise Forbidden(f"This key is bound to another {kind}.")
    return bound or named or ""
