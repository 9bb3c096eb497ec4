# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `feedback`."""

from collections.abc import Iterator
from datetime import datetime

from ..calls import UNSET, Fields, Maybe
from ..group import Group
from ..inputs import RecalledKind, Verdict
from ..models.feedback import Feedback, FeedbackPage
from ..operations import feedback as does
from ..paging import iterate


class FeedbackGroup(Group):
    """Whether what was told to an agent helped."""

    def list(
        self,
        *,
        cursor: str | None = None,
        kind: str | None = None,
        limit: int | None = None,
        memory_id: str | None = None,
        session_id: str | None = None,
        since: datetime | str | None = None,
        user_id: Maybe[str] = UNSET,
        verdict: str | None = None,
    ) -> FeedbackPage:
        """What was thought of memories, newest first.

        cursor: Where to go on: `next` of the answer before.
        kind: Only about memories of this kind.
        limit: The most results in one answer.
        memory_id: Only about this memory.
        session_id: Only of the session with this id.
        since: Only since this moment.
        verdict: Only with this verdict.
        """
        return self._client.call(
            does.LIST,
            query={
                "cursor": cursor,
                "kind": kind,
                "limit": limit,
                "memory_id": memory_id,
                "session_id": session_id,
                "since": since,
                "user_id": user_id,
                "verdict": verdict,
            },
        )

    def iterate(
        self,
        *,
        kind: str | None = None,
        limit: int | None = None,
        memory_id: str | None = None,
        session_id: str | None = None,
        since: datetime | str | None = None,
        user_id: Maybe[str] = UNSET,
        verdict: str | None = None,
    ) -> Iterator[Feedback]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return iterate(
            lambda cursor: self.list(
                kind=kind,
                limit=limit,
                memory_id=memory_id,
                session_id=session_id,
                since=since,
                user_id=user_id,
                verdict=verdict,
                cursor=cursor,
            )
        )

    def create(
        self,
        *,
        verdict: Verdict,
        injection_id: str | None = None,
        kind: RecalledKind | None = None,
        memory_id: str | None = None,
        session_id: str | None = None,
        note: str | None = None,
    ) -> Feedback:
        """Say whether a memory that was recalled served.

        injection_id: What told the memory; or else its `kind` and `memory_id`.
        session_id: Where the memory was recalled; that of the injection, if one is named.
        """
        fields = {
            "verdict": verdict, "injection_id": injection_id, "kind": kind, "memory_id": memory_id,
            "session_id": session_id, "note": note,
        }  # fmt: skip
        return self._client.call(does.CREATE, body=Fields(fields))
