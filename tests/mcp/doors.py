"""The ways in, each by the SDK's own client."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from observations.models import Observation
from observations.observations import list_observations
from observations.types import ObservationFilter
from tests.conftest import Member
from tests.processes import ROOT

Transport = Literal["http", "stdio"]
logging.getLogger("httpx2").setLevel(logging.WARNING)  # it tells of each request


@dataclass(frozen=True)
class Door:
    """A transport in one of the protocol's two generations: `legacy` begins with a handshake."""

    transport: Transport
    mode: str
    server: str

    def __str__(self) -> str:
        return f"{self.transport}-{self.mode}"

    def use(self, member: Member, steps: Callable[[Client], Awaitable[Any]], **named: str) -> Any:
        """Connects with the member's key, does the steps; what they answer. `named`: `project`, `session`."""

        async def go() -> Any:
            async with self.connect(member.key, **named) as client:
                return await steps(client)

        return asyncio.run(go())

    def call(self, member: Member, tool: str, arguments: dict[str, Any] | None = None, **named: str) -> Any:
        """One call; the answered text, and whether it is an error."""
        return told(self.use(member, lambda client: client.call_tool(tool, arguments or {}), **named))

    def refusal(self, member: Member, tool: str, arguments: dict[str, Any] | None = None) -> str:
        """What a call is told that is refused by the protocol, not by a tool."""

        async def steps(client: Client) -> str:
            with pytest.raises(MCPError) as caught:
                await client.call_tool(tool, arguments or {})
            assert caught.value.code == -32602
            return str(caught.value)

        return str(self.use(member, steps))

    def names(self, member: Member, **named: str) -> list[str]:
        """The names of the tools that the member's key sees."""
        listed = self.use(member, lambda client: client.list_tools(), **named)
        return [tool.name for tool in listed.tools]

    @asynccontextmanager
    async def connect(self, key: str, *, project: str = "", session: str = "") -> AsyncIterator[Client]:
        if self.transport == "stdio":
            async with Client(child(key, project=project, session=session), mode=self.mode) as client:
                yield client
            return
        given = {"project": project, "session_id": session}
        query = urlencode({name: value for name, value in given.items() if value})
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(
                streamable_http_client(f"{self.server}/mcp?{query}".rstrip("?"), http_client=http),
                mode=self.mode,
            ) as client,
        ):
            yield client


def told(result: Any) -> tuple[str, bool]:
    """The text of a tool's result, and whether it is an error."""
    (content,) = result.content
    return content.text, result.is_error


def kept(member: Member, project: str = "default") -> list[Observation]:
    """What is stored in the project, newest first."""
    where = ObservationFilter(project=project)
    return list_observations(caller=member.caller, where=where, limit=1_000)


def child(key: str, *args: str | Path, project: str = "", session: str = "") -> StdioServerParameters:
    """`manage.py mcp` on the tests' stores."""
    named = {"STRATA_API_KEY": key, "STRATA_PROJECT": project, "STRATA_SESSION": session}
    given = {name: value for name, value in named.items() if value}
    return StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp", *map(str, args)],
        env={**os.environ, **given},
        cwd=ROOT,
    )
