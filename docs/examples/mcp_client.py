"""The official MCP client at Strata's /mcp: the tools that any agent which speaks the protocol is given.

No SDK of Strata is needed for that, only the address and the key in a header.

    pip install mcp './sdk'        # ./sdk only finds the address here
    python docs/examples/mcp_client.py
"""

import asyncio
import secrets

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent
from strata_memory.addresses import find_address


async def call(client: Client, tool: str, **arguments: str) -> str:
    """What a tool answers, as text."""
    answer = await client.call_tool(tool, arguments)
    return "\n".join(one.text for one in answer.content if isinstance(one, TextContent))


async def main() -> None:
    server = find_address(None, None)  # STRATA_URL and STRATA_API_KEY, else what `make run` has started
    project = f"billing-{secrets.token_hex(3)}"  # agents of one project share what they save
    headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
    address = f"{server.url}/mcp?project={project}"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        listed = await client.list_tools()
        print(f"tools: {', '.join(sorted(one.name for one in listed.tools))}")
        saved = await call(
            client, "mem_save", type="decision", title="Exports run at night",
            content="Long exports are queued and run after 22:00, since they block the database by day.",
        )  # fmt: skip
        print(f"{project}, saved: {saved}")
        found = await call(client, "mem_search", query="when do exports run?")
        print(f"{project}, found: {found}")


if __name__ == "__main__":
    asyncio.run(main())
