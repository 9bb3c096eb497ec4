# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `memory`."""

from collections.abc import Sequence
from datetime import datetime

from ..calls import UNSET, Fields, Maybe
from ..group import AsyncGroup
from ..inputs import Include, MemoryType, Profile, RecalledKind, SearchMode
from ..models.memory import Assembled, RecallAnswer, Remembered
from ..operations import memory as does


class AsyncMemoryGroup(AsyncGroup):
    """Recalls what is remembered, remembers what was said, and assembles both for a model."""

    async def recall(
        self,
        *,
        query: str,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        session_id: str | None = None,
        project: str | None = None,
        memory_type: Sequence[MemoryType] | None = None,
        topics: Sequence[str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        top_k: int | None = None,
        alpha: float | None = None,
        decay: float | None = None,
        profile: Profile | None = None,
        mode: SearchMode | None = None,
        kinds: Sequence[RecalledKind] | None = None,
        mmr: float | bool | None = None,
        count_access: bool | None = None,
        explain: bool | None = None,
    ) -> RecallAnswer:
        """What is remembered about this?

        query: What is asked, or what somebody says now.
        session_id: Only what this session left.
        project: Only of this project.
        memory_type: Only episodes of these kinds.
        topics: Only episodes with one of these topics.
        since: Only what happened from then on.
        until: Only what happened until then.
        as_of: What held then; by default what holds now.
        top_k: The most results; by default the policy's `recall.top_k`.
        alpha: Instead of the policy's `recall.alpha`, in `fused`.
        decay: Instead of the policy's `recall.decay`, in `fused`, `hybrid` and `keyword`.
        profile: Instead of the policy's `recall.profile`.
        mode: Another name of a profile.
        kinds: Of memories; by default episodes, and slots, too, where a user is named and nothing that slots
          are not chosen by: an agent, a project, a session, a memory type, topics or a time.
        mmr: What relevance counts for against being unlike the other results, so that near-duplicates do not
          fill the answer; `true`: 0.7. By default relevance alone.
        count_access: Whether results count as accessed; by default they do.
        explain: Tell of each result how its score came about.
        """
        fields = {
            "query": query, "user_id": user_id, "agent_id": agent_id, "session_id": session_id,
            "project": project, "memory_type": memory_type, "topics": topics, "since": since,
            "until": until, "as_of": as_of, "top_k": top_k, "alpha": alpha, "decay": decay,
            "profile": profile, "mode": mode, "kinds": kinds, "mmr": mmr,
            "count_access": count_access, "explain": explain,
        }  # fmt: skip
        return await self._client.call(does.RECALL, body=Fields(fields))

    async def remember(
        self,
        *,
        session_id: str,
        user_message: str,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        assistant_message: str | None = None,
        namespace: str | None = None,
    ) -> Remembered:
        """Remember what is worth it of a turn.

        session_id: The conversation that the turn is of.
        """
        fields = {
            "session_id": session_id, "user_message": user_message, "user_id": user_id,
            "agent_id": agent_id, "assistant_message": assistant_message,
        }  # fmt: skip
        return await self._client.call(does.REMEMBER, query={"namespace": namespace}, body=Fields(fields))

    async def assemble(
        self,
        *,
        session_id: str,
        query: str,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        system: str | None = None,
        token_budget: int | None = None,
        dedupe: bool | None = None,
        include: Sequence[Include] | None = None,
        environment: str | None = None,
        procedures: Sequence[str] | None = None,
        namespace: str | None = None,
    ) -> Assembled:
        """The messages of a turn for a chat API, with what is remembered; nothing is told twice.

        query: What the user says now: the last message.
        system: Your own system message: the first.
        token_budget: `system`, `query` and the newest exchange stay even if they exceed it.
        dedupe: Leave out what the session was told, and which says the same; by default.
        include: By default all.
        environment: Whose procedures; by default the server's.
        procedures: Names of procedures, beside those that are meant for the agent.
        """
        fields = {
            "session_id": session_id, "query": query, "user_id": user_id, "agent_id": agent_id,
            "system": system, "token_budget": token_budget, "dedupe": dedupe, "include": include,
            "environment": environment, "procedures": procedures,
        }  # fmt: skip
        return await self._client.call(does.ASSEMBLE, query={"namespace": namespace}, body=Fields(fields))
