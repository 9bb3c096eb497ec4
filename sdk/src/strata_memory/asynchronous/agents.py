# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `agents`."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from ..calls import Fields
from ..group import AsyncGroup
from ..inputs import KaosMemoryInput, MemoryInput, ToolHooksInput
from ..models.agents import DeclaredAgent, DeclaredAgentPage
from ..operations import agents as does
from ..paging import aiterate


class AsyncAgentsGroup(AsyncGroup):
    """What agents declare of themselves: their memory, their tool hooks, KAOS's block."""

    async def list(self, *, cursor: str | None = None, limit: int | None = None) -> DeclaredAgentPage:
        """Agents, by name.

        cursor: Only agents behind this name: `next` of the answer before.
        limit: The most results in one answer.
        """
        return await self._client.call(does.LIST, query={"cursor": cursor, "limit": limit})

    def iterate(self, *, limit: int | None = None) -> AsyncIterator[DeclaredAgent]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return aiterate(lambda cursor: self.list(limit=limit, cursor=cursor))

    async def get(self, name: str) -> DeclaredAgent:
        """What is declared of an agent."""
        return await self._client.call(does.GET, path=(name,))

    async def put(
        self,
        name: str,
        *,
        memory: MemoryInput | Mapping[str, Any] | None = None,
        tool_hooks: ToolHooksInput | Mapping[str, Any] | None = None,
        kaos: KaosMemoryInput | Mapping[str, Any] | None = None,
    ) -> DeclaredAgent:
        """Declare an agent: its memory and tool hooks, or the whole Kubernetes resource."""
        fields = {"memory": memory, "toolHooks": tool_hooks, "kaos": kaos}
        return await self._client.call(does.PUT, path=(name,), body=Fields(fields))

    async def delete(self, name: str) -> None:
        """Forget what was declared of an agent."""
        return await self._client.call(does.DELETE, path=(name,))
