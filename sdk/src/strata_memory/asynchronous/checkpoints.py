# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `checkpoints`."""

from typing import Any

from ..calls import UNSET, Maybe, Tagged
from ..group import AsyncGroup
from ..models.checkpoints import WrittenCheckpoint
from ..operations import checkpoints as does


class AsyncCheckpointsGroup(AsyncGroup):
    """The state that an agent can go on from, one for each session."""

    async def get(
        self,
        session_id: str,
        *,
        namespace: str | None = None,
        user_id: Maybe[str] = UNSET,
        if_none_match: str | None = None,
    ) -> Tagged[Any]:
        """Where the agent's loop stood, to the letter; `ETag` is its version."""
        return await self._client.call(
            does.GET,
            path=(session_id,),
            query={"namespace": namespace, "user_id": user_id},
            headers={"If-None-Match": if_none_match},
        )

    async def put(
        self,
        session_id: str,
        value: Any,
        *,
        namespace: str | None = None,
        user_id: Maybe[str] = UNSET,
        if_match: str | None = None,
        if_none_match: str | None = None,
    ) -> WrittenCheckpoint:
        """Keep where the agent's loop stands: any JSON."""
        return await self._client.call(
            does.PUT,
            path=(session_id,),
            query={"namespace": namespace, "user_id": user_id},
            headers={"If-Match": if_match, "If-None-Match": if_none_match},
            body=value,
        )
