# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `entities`."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ..calls import UNSET, Fields, Maybe
from ..group import Group
from ..models.entities import EntityHistoryPage, EntityPage, FoundEntity
from ..models.several import Decision, Entity
from ..operations import entities as does
from ..paging import iterate


class EntitiesGroup(Group):
    """Slots: what is known of a user by key, such as `home_city`, one value at a time."""

    def list(
        self,
        *,
        as_of: datetime | str | None = None,
        cursor: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        query: str | None = None,
        status: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> EntityPage:
        """Slots, those written last first, or those nearest to a query.

        as_of: What held at that moment, which names its time zone; by default now.
        cursor: Where to go on: `next` of the answer before.
        key: Only the slots with this key.
        limit: The most results in one answer.
        query: The slots of `user_id` that come nearest to this, best first.
        status: Only values of this status; by default `current`.
        """
        return self._client.call(
            does.LIST,
            query={
                "as_of": as_of,
                "cursor": cursor,
                "key": key,
                "limit": limit,
                "query": query,
                "status": status,
                "user_id": user_id,
            },
        )

    def iterate(
        self,
        *,
        as_of: datetime | str | None = None,
        key: str | None = None,
        limit: int | None = None,
        query: str | None = None,
        status: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> Iterator[FoundEntity]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return iterate(
            lambda cursor: self.list(
                as_of=as_of, key=key, limit=limit, query=query, status=status, user_id=user_id, cursor=cursor
            )
        )

    def get(self, user_id: str, key: str, *, as_of: datetime | str | None = None) -> Entity:
        """What a slot holds.

        as_of: What held at that moment, which names its time zone; by default now.
        """
        return self._client.call(
            does.GET,
            path=(
                user_id,
                key,
            ),
            query={"as_of": as_of},
        )

    def put(
        self,
        user_id: str,
        key: str,
        *,
        value: Any,
        confidence: float | None = None,
        source: str | None = None,
        agent_id: Maybe[str] = UNSET,
        source_session: str | None = None,
        source_turn: int | None = None,
        valid_from: datetime | str | None = None,
    ) -> Entity | Decision:
        """Write a slot.

        confidence: How sure it is, from 0 to 1.
        source: Who says so; `api` by default.
        valid_from: Since when it holds; by default now.
        """
        fields = {
            "value": value, "confidence": confidence, "source": source, "agent_id": agent_id,
            "source_session": source_session, "source_turn": source_turn, "valid_from": valid_from,
        }  # fmt: skip
        return self._client.call(
            does.PUT,
            path=(
                user_id,
                key,
            ),
            body=Fields(fields),
        )

    def delete(self, user_id: str, key: str, *, hard: bool | None = None) -> None:
        """Take back what a slot holds.

        hard: `true`: the history goes as well.
        """
        return self._client.call(
            does.DELETE,
            path=(
                user_id,
                key,
            ),
            query={"hard": hard},
        )

    def confirm(self, user_id: str, key: str) -> Entity:
        """Have the value that waits hold; not by a key bound to an agent."""
        return self._client.call(
            does.CONFIRM,
            path=(
                user_id,
                key,
            ),
        )

    def history(
        self, user_id: str, key: str, *, cursor: str | None = None, limit: int | None = None
    ) -> EntityHistoryPage:
        """Every value of a slot, the latest first.

        cursor: Where to go on: `next` of the answer before.
        limit: The most results in one answer.
        """
        return self._client.call(
            does.HISTORY,
            path=(
                user_id,
                key,
            ),
            query={"cursor": cursor, "limit": limit},
        )

    def iterate_history(self, user_id: str, key: str, *, limit: int | None = None) -> Iterator[Entity]:
        """All of `history`, page by page; `limit` is the length of a page."""
        return iterate(lambda cursor: self.history(user_id, key, limit=limit, cursor=cursor))

    def pin(self, user_id: str, key: str) -> Entity:
        """Keep a slot's value against what is extracted."""
        return self._client.call(
            does.PIN,
            path=(
                user_id,
                key,
            ),
        )

    def unpin(self, user_id: str, key: str) -> Entity:
        """Have a slot's value be replaced again."""
        return self._client.call(
            does.UNPIN,
            path=(
                user_id,
                key,
            ),
        )
