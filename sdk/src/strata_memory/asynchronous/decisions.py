# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `decisions`."""

from collections.abc import AsyncIterator
from datetime import datetime

from ..calls import UNSET, Maybe
from ..group import AsyncGroup
from ..models.decisions import DecisionPage
from ..models.several import Decision
from ..operations import decisions as does
from ..paging import aiterate


class AsyncDecisionsGroup(AsyncGroup):
    """What the write policy decided, and what waits for somebody to confirm it."""

    async def list(
        self,
        *,
        agent_id: Maybe[str] = UNSET,
        cursor: str | None = None,
        kind: str | None = None,
        limit: int | None = None,
        outcome: str | None = None,
        reason: str | None = None,
        session_id: str | None = None,
        since: datetime | str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> DecisionPage:
        """What was not written and why, newest first.

        cursor: Where to go on: `next` of the answer before.
        kind: Only of this kind: entity, episode, summary.
        limit: The most results in one answer.
        outcome: Only with this outcome.
        reason: Only for this reason, such as `blocklist`.
        session_id: Only of the session with this id.
        since: Only since this moment.
        """
        return await self._client.call(
            does.LIST,
            query={
                "agent_id": agent_id,
                "cursor": cursor,
                "kind": kind,
                "limit": limit,
                "outcome": outcome,
                "reason": reason,
                "session_id": session_id,
                "since": since,
                "user_id": user_id,
            },
        )

    def iterate(
        self,
        *,
        agent_id: Maybe[str] = UNSET,
        kind: str | None = None,
        limit: int | None = None,
        outcome: str | None = None,
        reason: str | None = None,
        session_id: str | None = None,
        since: datetime | str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> AsyncIterator[Decision]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return aiterate(
            lambda cursor: self.list(
                agent_id=agent_id,
                kind=kind,
                limit=limit,
                outcome=outcome,
                reason=reason,
                session_id=session_id,
                since=since,
                user_id=user_id,
                cursor=cursor,
            )
        )

    async def get(self, decision_id: str) -> Decision:
        """Why something was not written."""
        return await self._client.call(does.GET, path=(decision_id,))

    async def confirm(self, decision_id: str) -> Decision:
        """Write it after all."""
        return await self._client.call(does.CONFIRM, path=(decision_id,))

    async def reject(self, decision_id: str) -> Decision:
        """Drop for good what was kept of it."""
        return await self._client.call(does.REJECT, path=(decision_id,))
