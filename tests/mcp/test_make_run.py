"""With `make run` up, nothing has to be named."""

import asyncio
import sys

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.embedded.stack import environment, started
from tests.mcp.doors import told
from tests.processes import ROOT

pytestmark = pytest.mark.processes


def test_both_transports_serve_the_memory_of_the_demo_tenant(tmp_path):
    home = tmp_path / "a home"
    with started(home) as strata:
        process = StdioServerParameters(
            command=sys.executable,
            args=["manage.py", "mcp"],
            env=environment(home, strata.run["url"].rpartition(":")[2]),
            cwd=ROOT,
        )

        async def go():
            async with Client(process) as client:
                given = {"type": "config", "title": "Port", "content": "Strata listens on port 8002."}
                saved = told(await client.call_tool("mem_save", given))
            async with Client(f"{strata.run['url']}/mcp") as client:  # keyless, from this machine
                found = told(await client.call_tool("mem_search", {"query": "which port does it listen on?"}))
            return saved, found

        saved, (text, failed) = asyncio.run(go())
    assert saved == ("Saved [config] Port", False)
    assert not failed
    assert "1. [config] Port" in text
