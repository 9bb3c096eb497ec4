"""The process that a client starts."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone
from mcp.shared.exceptions import MCPError

from api.mcp.stdio import in_thread
from tenants.api_keys import create_api_key, revoke_api_key
from tenants.scope import scope
from tests.mcp.doors import Door, kept, told
from tests.processes import ROOT

pytestmark = pytest.mark.processes
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number, name, **arguments):
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def start(*args, key="", **environment):
    given = {"STRATA_API_KEY": key, **environment}
    return subprocess.Popen(
        [sys.executable, "manage.py", "mcp", *map(str, args)],
        cwd=ROOT,
        env={**os.environ, **{name: value for name, value in given.items() if value}},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def refused(*args, **environment):
    """What the command says before it ends by itself."""
    process = start(*args, **environment)
    _out, complaint = process.communicate(timeout=30)
    assert (process.returncode, _out) == (1, b"")
    return complaint.decode()


def test_what_is_piped_in_is_answered_before_it_ends(acme):
    messages = [HELLO, READY]
    messages += [
        call(n, "mem_save", type="learning", title=f"T{n}", content=f"Fact {n}.") for n in range(1, 21)
    ]
    process = start(key=acme.key)
    out, err = process.communicate("".join(json.dumps(one) + "\n" for one in messages).encode(), timeout=60)
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, out.splitlines())}
    assert process.returncode == 0, err
    assert answers.keys() == set(range(21))
    assert answers[0]["protocolVersion"] == "2025-06-18"
    assert answers[7]["content"][0]["text"] == "Saved [learning] T7"


def test_nothing_but_messages_is_written_to_standard_output(acme):
    """Lines of the log go to standard error, also those of a call that goes wrong."""
    broken = "this is no message\n\xff\n{}\n[1]\n"
    lines = json.dumps(HELLO) + "\n" + broken + json.dumps(call(1, "mem_search", query="x")) + "\n"
    process = start(key=acme.key, LOG_LEVEL="DEBUG")
    out, _err = process.communicate(lines.encode("latin-1"), timeout=30)
    assert process.returncode == 0
    answers = [json.loads(line) for line in out.splitlines()]
    assert {"jsonrpc"} <= set.intersection(*(set(answer) for answer in answers))
    assert 1 in {answer.get("id") for answer in answers}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(acme, number):
    process = start(key=acme.key)
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 0
    process.send_signal(number)
    out, err = process.communicate(timeout=15)
    assert (process.returncode, out) == (0, b""), err
    assert b"Traceback" not in err


def test_a_closed_input_ends_it_cleanly(acme):
    process = start(key=acme.key)
    out, err = process.communicate(b"", timeout=30)
    assert (process.returncode, out, b"Traceback" in err) == (0, b"", False)


def test_the_key_may_stand_in_a_file(acme, server, tmp_path):
    (tmp_path / "key").write_text(f"{acme.key}\n")
    process = start("--key-file", tmp_path / "key", "--project", "Files", "--session", "s-9")
    lines = [HELLO, READY, call(1, "mem_save", type="config", title="T", content="C")]
    out, _err = process.communicate("".join(json.dumps(one) + "\n" for one in lines).encode(), timeout=30)
    assert json.loads(out.splitlines()[-1])["result"]["isError"] is False
    (found,) = kept(acme, "files")
    assert found.session == "s-9"


def test_the_key_of_make_run_serves_where_none_is_named(acme, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "run.json").write_text(json.dumps({"api_key": acme.key}))
    process = start(MEMORY_HOME=str(home))
    out, _err = process.communicate(json.dumps(HELLO).encode() + b"\n", timeout=30)
    assert json.loads(out)["result"]["serverInfo"]["name"] == "strata"


def test_it_does_not_start_without_a_valid_key(acme, tmp_path):
    assert "Name a key" in refused(MEMORY_HOME=str(tmp_path))
    assert "The API key is not valid." in refused(key="mem_0123456789abcdef_wrong")
    assert "cannot be read" in refused("--key-file", tmp_path / "nowhere")
    bound = acme.with_key(project="billing")
    assert "another project" in refused("--project", "other", key=bound.key)


def test_a_key_that_is_revoked_meanwhile_reaches_nothing_more(acme, server):
    key, text = create_api_key(tenant=acme.tenant, actor="test")

    async def go():
        async with Door("stdio", "legacy", server).connect(text) as client:
            assert told(await client.call_tool("mem_context", {}))[1] is False
            await asyncio.to_thread(revoke_api_key, key=key, actor="test", now=timezone.now())
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                try:
                    await client.call_tool("mem_context", {})
                except MCPError as error:
                    return error.message
                await asyncio.sleep(0.2)
        return "still served"

    assert asyncio.run(go()) == "The API key is not valid."


def test_a_thread_gives_its_connection_back(acme):
    def work():
        with scope(acme.tenant.id), connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return connection.connection is not None

    def look():
        return in_thread(work), connection.connection is None

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(look).result() == (True, True)


def test_eight_clients_at_once_are_all_answered(acme, server):
    """Four over HTTP and four processes, each with calls of its own that overlap."""

    def work(number):
        door = Door("http" if number % 2 else "stdio", "auto" if number % 4 < 2 else "legacy", server)

        async def steps(client):
            saves = [
                client.call_tool(
                    "mem_save",
                    {"type": "learning", "title": f"T{number}.{n}", "content": f"{number} says {n}."},
                )
                for n in range(10)
            ]
            saved = [told(result) for result in await asyncio.gather(*saves)]
            return saved, await client.call_tool("mem_search", {"query": "says", "limit": 100})

        return door.use(acme, steps, project="crowd")

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(work, range(8)))
    for number, (saved, _found) in enumerate(results):
        assert saved == [(f"Saved [learning] T{number}.{n}", False) for n in range(10)]
    door = Door("http", "auto", server)
    text, _ = door.call(acme, "mem_search", {"query": "says", "limit": 100}, project="crowd")
    assert text.startswith("Found 80 memories:")
