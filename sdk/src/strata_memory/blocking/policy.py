# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `policy`."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..calls import UNSET, Fields, Maybe
from ..group import Group
from ..models.policy import Policy, PolicyDiff, PolicyVersion, PolicyVersionPage
from ..operations import policy as does
from ..paging import iterate


class PolicyGroup(Group):
    """What is kept, for how long, and how it is found: its versions and their differences."""

    def get(self, *, agent_id: str | None = None) -> Policy:
        """What is decided, and what holds."""
        return self._client.call(does.GET, query={"agent_id": agent_id})

    def change(
        self,
        *,
        agent_id: Maybe[str] = UNSET,
        document: Mapping[str, Any] | None = None,
        version: Maybe[int] = UNSET,
        note: str | None = None,
        if_match: str | None = None,
    ) -> Policy:
        """Decide otherwise; null gives a field back.

        document: A merge patch of /api/v1/policy/schema.
        """
        fields = {"agent_id": agent_id, "document": document, "version": version, "note": note}
        return self._client.call(does.CHANGE, headers={"If-Match": if_match}, body=Fields(fields))

    def diff(
        self, *, agent_id: str | None = None, from_: int | None = None, to: int | None = None
    ) -> PolicyDiff:
        """Where two versions differ.

        from_: By default the version before `to`; 0 is the empty one.
        to: By default the newest version.
        """
        return self._client.call(does.DIFF, query={"agent_id": agent_id, "from": from_, "to": to})

    def rollback(
        self,
        *,
        to: int,
        agent_id: str | None = None,
        version: int | None = None,
        note: str | None = None,
        if_match: str | None = None,
    ) -> Policy:
        """Add a version with the document of an old one."""
        fields = {"to": to, "agent_id": agent_id, "version": version, "note": note}
        return self._client.call(does.ROLLBACK, headers={"If-Match": if_match}, body=Fields(fields))

    def schema(self) -> dict[str, Any]:
        """JSON schema of the document, with this deployment's defaults."""
        return self._client.call(does.SCHEMA)

    def versions(
        self, *, agent_id: str | None = None, cursor: int | None = None, limit: int | None = None
    ) -> PolicyVersionPage:
        """Its versions, newest first.

        cursor: Only versions before this one: `next` of the answer before.
        limit: The most results in one answer.
        """
        return self._client.call(
            does.VERSIONS, query={"agent_id": agent_id, "cursor": cursor, "limit": limit}
        )

    def iterate_versions(
        self, *, agent_id: str | None = None, limit: int | None = None
    ) -> Iterator[PolicyVersion]:
        """All of `versions`, page by page; `limit` is the length of a page."""
        return iterate(lambda cursor: self.versions(agent_id=agent_id, limit=limit, cursor=cursor))
