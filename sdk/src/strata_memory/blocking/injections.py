# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `injections`."""

from collections.abc import Iterator
from datetime import datetime

from ..calls import UNSET, Maybe
from ..group import Group
from ..models.injections import Injection, InjectionPage
from ..operations import injections as does
from ..paging import iterate


class InjectionsGroup(Group):
    """What was put into a session's prompts, and when."""

    def list(
        self,
        *,
        cursor: str | None = None,
        kind: str | None = None,
        limit: int | None = None,
        namespace: str | None = None,
        prefix: str | None = None,
        session_id: str | None = None,
        since: datetime | str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> InjectionPage:
        """What sessions were told, newest first.

        cursor: Where to go on: `next` of the answer before.
        kind: Only items of this kind, which stands before the colon of their key.
        limit: The most results in one answer.
        prefix: Only items whose key begins so.
        session_id: Only of the session with this id.
        since: Only since this moment.
        """
        return self._client.call(
            does.LIST,
            query={
                "cursor": cursor,
                "kind": kind,
                "limit": limit,
                "namespace": namespace,
                "prefix": prefix,
                "session_id": session_id,
                "since": since,
                "user_id": user_id,
            },
        )

    def iterate(
        self,
        *,
        kind: str | None = None,
        limit: int | None = None,
        namespace: str | None = None,
        prefix: str | None = None,
        session_id: str | None = None,
        since: datetime | str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> Iterator[Injection]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return iterate(
            lambda cursor: self.list(
                kind=kind,
                limit=limit,
                namespace=namespace,
                prefix=prefix,
                session_id=session_id,
                since=since,
                user_id=user_id,
                cursor=cursor,
            )
        )
