# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `evaluation`."""

from collections.abc import AsyncIterator, Sequence

from ..calls import Fields
from ..group import AsyncGroup
from ..models.evaluation import SavedQuery, SavedQueryPage, Trial
from ..operations import evaluation as does
from ..paging import aiterate


class AsyncEvaluationGroup(AsyncGroup):
    """Saved queries that say what recall ought to find, and trials of how it ranks."""

    async def list(
        self,
        *,
        agent_id: str | None = None,
        cursor: str | None = None,
        labelled: bool | None = None,
        limit: int | None = None,
        session_id: str | None = None,
        source: str | None = None,
        user_id: str | None = None,
    ) -> SavedQueryPage:
        """Queries that recall is measured with, newest first.

        cursor: Where to go on: `next` of the answer before.
        labelled: Only those with labels (`true`), or only those without.
        limit: The most results in one answer.
        session_id: Only of the session with this id.
        source: Only those sampled, or those saved.
        """
        return await self._client.call(
            does.LIST,
            query={
                "agent_id": agent_id,
                "cursor": cursor,
                "labelled": labelled,
                "limit": limit,
                "session_id": session_id,
                "source": source,
                "user_id": user_id,
            },
        )

    def iterate(
        self,
        *,
        agent_id: str | None = None,
        labelled: bool | None = None,
        limit: int | None = None,
        session_id: str | None = None,
        source: str | None = None,
        user_id: str | None = None,
    ) -> AsyncIterator[SavedQuery]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return aiterate(
            lambda cursor: self.list(
                agent_id=agent_id,
                labelled=labelled,
                limit=limit,
                session_id=session_id,
                source=source,
                user_id=user_id,
                cursor=cursor,
            )
        )

    async def create(
        self,
        *,
        text: str,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        relevant: Sequence[str] | None = None,
    ) -> SavedQuery:
        """Save a query to measure recall with.

        relevant: Ids of the episodes that answer it; none: it is unlabelled.
        """
        fields = {
            "text": text, "user_id": user_id, "agent_id": agent_id, "session_id": session_id,
            "relevant": relevant,
        }  # fmt: skip
        return await self._client.call(does.CREATE, body=Fields(fields))

    async def get(self, query_id: str) -> SavedQuery:
        """A query that recall is measured with."""
        return await self._client.call(does.GET, path=(query_id,))

    async def label(self, query_id: str, *, relevant: Sequence[str] | None = None) -> SavedQuery:
        """Say which episodes answer it.

        relevant: Ids of the episodes that answer it; none: it is unlabelled.
        """
        fields = {"relevant": relevant}
        return await self._client.call(does.LABEL, path=(query_id,), body=Fields(fields))

    async def delete(self, query_id: str) -> None:
        """Delete it for good."""
        return await self._client.call(does.DELETE, path=(query_id,))

    async def trial(self) -> Trial:
        """How the trial of two settings of recall stands."""
        return await self._client.call(does.TRIAL)
