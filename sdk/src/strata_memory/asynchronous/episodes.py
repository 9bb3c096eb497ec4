# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `episodes`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..calls import UNSET, Fields, Maybe
from ..group import AsyncGroup
from ..inputs import MemoryType
from ..models.episodes import (
    Episode,
    EpisodePage,
    EpisodeRevision,
    EpisodeRevisionPage,
    ReadEpisode,
    StoredEpisode,
)
from ..models.several import Decision
from ..operations import episodes as does
from ..paging import aiterate


class AsyncEpisodesGroup(AsyncGroup):
    """Memories as texts: what happened, what holds, what was said."""

    async def list(
        self,
        *,
        agent_id: Maybe[str] = UNSET,
        as_of: datetime | str | None = None,
        cursor: str | None = None,
        history: bool | None = None,
        limit: int | None = None,
        memory_type: Sequence[str] | None = None,
        namespace: str | None = None,
        project: str | None = None,
        session_id: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> EpisodePage:
        """Episodes, newest first.

        as_of: What held at that moment, which names its time zone; by default now.
        cursor: Where to go on: `next` of the answer before.
        history: `true`: those that hold no more, too. Not beside `as_of`.
        limit: The most results in one answer.
        memory_type: Only episodes of this kind; repeated, of any of them.
        project: Only of this project.
        session_id: Only of the session with this id.
        """
        return await self._client.call(
            does.LIST,
            query={
                "agent_id": agent_id,
                "as_of": as_of,
                "cursor": cursor,
                "history": history,
                "limit": limit,
                "memory_type": memory_type,
                "namespace": namespace,
                "project": project,
                "session_id": session_id,
                "user_id": user_id,
            },
        )

    def iterate(
        self,
        *,
        agent_id: Maybe[str] = UNSET,
        as_of: datetime | str | None = None,
        history: bool | None = None,
        limit: int | None = None,
        memory_type: Sequence[str] | None = None,
        namespace: str | None = None,
        project: str | None = None,
        session_id: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> AsyncIterator[ReadEpisode]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return aiterate(
            lambda cursor: self.list(
                agent_id=agent_id,
                as_of=as_of,
                history=history,
                limit=limit,
                memory_type=memory_type,
                namespace=namespace,
                project=project,
                session_id=session_id,
                user_id=user_id,
                cursor=cursor,
            )
        )

    async def create(
        self,
        *,
        text: str,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        session_id: str | None = None,
        memory_type: MemoryType | None = None,
        topics: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        outcome: str | None = None,
        event_date: datetime | str | None = None,
        valid_from: datetime | str | None = None,
        covers_turns: Sequence[int] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> StoredEpisode | Decision:
        """Store an episode.

        text: What is remembered, in words.
        session_id: The session that it is of.
        outcome: How it ended.
        event_date: When it happened.
        valid_from: Since when it holds; by default now.
        covers_turns: Numbers of the first and the last turn of the session that it tells of.
        """
        fields = {
            "text": text, "user_id": user_id, "agent_id": agent_id, "session_id": session_id,
            "memory_type": memory_type, "topics": topics, "entities": entities, "outcome": outcome,
            "event_date": event_date, "valid_from": valid_from, "covers_turns": covers_turns,
            "metadata": metadata,
        }  # fmt: skip
        return await self._client.call(does.CREATE, body=Fields(fields))

    async def get(self, episode_id: str) -> ReadEpisode:
        """An episode, whether it still holds or not."""
        return await self._client.call(does.GET, path=(episode_id,))

    async def change(
        self,
        episode_id: str,
        *,
        text: str | None = None,
        topics: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        outcome: str | None = None,
        event_date: Maybe[datetime | str] = UNSET,
        metadata: Mapping[str, Any] | None = None,
        agent_id: str | None = None,
        project: str | None = None,
        memory_type: MemoryType | None = None,
        if_match: str | None = None,
    ) -> Episode:
        """Edit an episode; what it said before stays in its history.

        metadata: In place of what was there.
        project: Empty: no project's.
        memory_type: A `message` remains one; nothing becomes one.
        """
        fields = {
            "text": text, "topics": topics, "entities": entities, "outcome": outcome,
            "event_date": event_date, "metadata": metadata, "agent_id": agent_id, "project": project,
            "memory_type": memory_type,
        }  # fmt: skip
        return await self._client.call(
            does.CHANGE, path=(episode_id,), headers={"If-Match": if_match}, body=Fields(fields)
        )

    async def delete(self, episode_id: str, *, hard: bool | None = None) -> None:
        """Take an episode back, or delete it for good.

        hard: `true`: it is gone, with its vectors and its history.
        """
        return await self._client.call(does.DELETE, path=(episode_id,), query={"hard": hard})

    async def history(
        self, episode_id: str, *, cursor: int | None = None, limit: int | None = None
    ) -> EpisodeRevisionPage:
        """What an episode said before each edit, newest first.

        cursor: Only revisions before this one: `next` of the answer before.
        limit: The most results in one answer.
        """
        return await self._client.call(
            does.HISTORY, path=(episode_id,), query={"cursor": cursor, "limit": limit}
        )

    def iterate_history(self, episode_id: str, *, limit: int | None = None) -> AsyncIterator[EpisodeRevision]:
        """All of `history`, page by page; `limit` is the length of a page."""
        return aiterate(lambda cursor: self.history(episode_id, limit=limit, cursor=cursor))

    async def pin(self, episode_id: str) -> Episode:
        """Have retention pass an episode by."""
        return await self._client.call(does.PIN, path=(episode_id,))

    async def retract(self, episode_id: str) -> Episode:
        """Take an episode back: it holds no more."""
        return await self._client.call(does.RETRACT, path=(episode_id,))

    async def unmerge(self, episode_id: str) -> Episode:
        """Have the records hold again that this one was made of."""
        return await self._client.call(does.UNMERGE, path=(episode_id,))

    async def unpin(self, episode_id: str) -> Episode:
        """Leave an episode to retention again."""
        return await self._client.call(does.UNPIN, path=(episode_id,))
