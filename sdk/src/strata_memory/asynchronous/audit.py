# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `audit`."""

from collections.abc import AsyncIterator

from ..group import AsyncGroup
from ..models.audit import AuditEntry, AuditPage
from ..operations import audit as does
from ..paging import aiterate


class AsyncAuditGroup(AsyncGroup):
    """Who did what in the tenant."""

    async def list(
        self,
        *,
        action: str | None = None,
        actor: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        user_id: str | None = None,
    ) -> AuditPage:
        """The audit log, newest first.

        action: Only this, such as `subject.erase`.
        actor: Only by this caller, such as `key:<key id>`.
        cursor: Where to go on: `next` of the answer before.
        limit: The most results in one answer.
        """
        return await self._client.call(
            does.LIST,
            query={"action": action, "actor": actor, "cursor": cursor, "limit": limit, "user_id": user_id},
        )

    def iterate(
        self,
        *,
        action: str | None = None,
        actor: str | None = None,
        limit: int | None = None,
        user_id: str | None = None,
    ) -> AsyncIterator[AuditEntry]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return aiterate(
            lambda cursor: self.list(action=action, actor=actor, limit=limit, user_id=user_id, cursor=cursor)
        )
