"""The transport over HTTP, looked at from below the client."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.utils import timezone

from tenants.api_keys import create_api_key, revoke_api_key
from tests.mcp.doors import kept
from tests.observability.lines import lines_of
from tests.plugin import HOME
from tests.processes import ROOT

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
TYPES = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def message(method="tools/list", **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def post(member, body=None, *, path="/mcp", content=None, **headers):
    """A message of the older generation."""
    content = json.dumps(message() if body is None else body) if content is None else content
    return member.http.post(path, content=content, headers=TYPES | headers)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_an_answer_is_json_with_and_without_the_slash(acme, path):
    answer = post(acme, path=path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert [tool["name"] for tool in answer.json()["result"]["tools"]][:4] == [
        "mem_save",
        "mem_search",
        "mem_context",
        "search_docs",
    ]
    assert "mcp-session-id" not in answer.headers


def test_the_newer_generation_needs_no_handshake(acme):
    headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/list"}
    answer = post(acme, message(_meta=META), **headers)
    assert answer.status_code == 200
    assert answer.json()["result"]["resultType"] == "complete"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"])
def test_there_are_no_streams_and_no_sessions(acme, method):
    answer = acme.http.request(method, "/mcp", headers={"Accept": "text/event-stream"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"]["message"] == "Send messages with POST."


def test_a_notification_is_taken(acme):
    answer = post(acme, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (answer.status_code, answer.content) == (202, b"")


def test_the_key_may_stand_in_either_header(acme, server):
    for headers in ({"Authorization": f"Bearer {acme.key}"}, {"X-API-Key": acme.key}):
        answer = httpx.post(f"{server}/mcp", json=message(), headers=TYPES | headers)
        assert answer.status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eA=="}])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_without_a_valid_key_the_door_is_closed(server, method, headers):
    answer = httpx.request(method, f"{server}/mcp", json=message(), headers=TYPES | headers)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="strata"')
    assert answer.json().keys() == {"jsonrpc", "id", "error"}


def test_a_revoked_key_is_refused_within_five_seconds(acme):
    key, text = create_api_key(tenant=acme.tenant, actor="test")
    given = {"X-API-Key": text, "Authorization": ""}
    assert post(acme, **given).status_code == 200
    revoke_api_key(key=key, actor="test", now=timezone.now())
    revoked = sent = time.monotonic()
    while (answer := post(acme, **given)).status_code == 200:
        assert sent < revoked + 5.2
        time.sleep(0.1)
        sent = time.monotonic()
    assert answer.status_code == 401


def test_a_key_that_neither_reads_nor_writes_is_refused(acme):
    answer = post(acme.with_key(scopes=("privacy",)))
    assert answer.status_code == 403
    assert answer.json()["error"]["message"] == "This needs a key with scope read or write."


def test_another_project_than_the_key_s_is_refused(acme):
    bound = acme.with_key(project="billing")
    assert post(bound, path="/mcp?project=Billing").status_code == 200
    assert post(bound, path="/mcp?project=other").status_code == 403


@pytest.mark.parametrize(
    "query", ["project=%ff", "session_id=%ff", "project=a%00", "session_id=%00", "project=" + "x" * 201]
)
def test_names_that_cannot_be_kept_are_refused(acme, query):
    assert post(acme, path=f"/mcp?{query}").status_code == 422


@pytest.mark.parametrize("origin", ["https://claude.example", "http://localhost:6274", "null"])
def test_with_a_key_any_page_may_ask(acme, origin):
    """A page that was made to look like ours has no key."""
    headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site", "Host": "memory.example.org"}
    assert post(acme, **headers).status_code == 200


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("", 400),
        ("{", 400),
        ("[]", 400),
        ("null", 400),
        ('"text"', 400),
        ("[" * 100_000, 400),
        ('{"jsonrpc":"2.0","id":1}', 400),
        (json.dumps([message(), message()]), 400),
        (b"\xff\xfe", 400),
    ],
)
@pytest.mark.parametrize("version", [None, VERSION])
def test_what_is_no_message_is_refused(acme, content, status, version):
    headers = {"MCP-Protocol-Version": version} if version else {}
    answer = post(acme, content=content, **headers)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["code"] in (-32700, -32600, -32602)


def test_an_unknown_method_is_an_error_of_the_protocol(acme):
    assert post(acme, message("memory/forget")).json()["error"]["code"] == -32601


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": "mem_save", "arguments": "x"}, {"name": None}])
def test_a_call_of_the_wrong_shape_is_an_error_of_the_protocol(acme, params):
    assert post(acme, message("tools/call", **params)).json()["error"]["code"] == -32602


@pytest.mark.parametrize("name", ["mem_forget", "", "Mem_Save", "x" * 10_000, "a\u0000b"])
def test_an_unknown_tool_is_an_error_of_the_protocol(acme, name):
    error = post(acme, message("tools/call", name=name, arguments={})).json()["error"]
    assert error["code"] == -32602
    assert error["message"] == f"Unknown tool: {name[:100]}"


def test_half_a_character_harms_nothing(acme):
    call = {"name": "mem_search", "arguments": {"query": "\ud800"}}
    headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "mem_search"}
    assert post(acme, message("tools/call", **call)).status_code == 400
    answer = post(acme, message("tools/call", **call, _meta=META), **headers)
    assert answer.json()["result"]["isError"] is False


def test_a_body_that_is_too_large_is_refused(acme):
    answer = post(acme, content=b" " * 1_048_577)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, -32600)
    assert post(acme, content=b" " * 1_000_000 + json.dumps(message()).encode()).status_code == 200


def test_a_chunked_body_is_read(acme):
    answer = acme.http.post("/mcp", content=iter([json.dumps(message()).encode()]), headers=TYPES)
    assert answer.status_code == 200


def test_other_types_than_json_are_refused(acme):
    assert post(acme, **{"Content-Type": "text/plain"}).status_code == 400
    assert post(acme, Accept="text/html").status_code == 406


def test_the_log_and_the_metrics_have_one_route_for_it(acme, server):
    answer = post(acme, path="/mcp/?project=secret-project", **{"X-Request-ID": "mcp-1"})
    assert answer.status_code == 200
    (line,) = lines_of(HOME / "web.log", request_id="mcp-1")
    assert (line["route"], line["status"], line["tenant"]) == ("/mcp", 200, acme.tenant.slug)
    assert "secret-project" not in str(line)
    metrics = httpx.get(f"{server}/metrics").text
    assert 'route="/mcp"' in metrics
    assert 'route="/mcp/' not in metrics


def test_the_sdk_is_silent_in_the_log(acme):
    post(acme)
    assert not [line for line in lines_of(HOME / "web.log") if line["logger"].startswith("mcp")]


def test_the_sdk_is_loaded_with_the_first_message_only():
    """It takes memory and start-up time, and many servers never need it."""
    look = "import django, sys; django.setup(); import memoryproject.urls; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", look], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )
    loaded = done.stdout.split()
    assert "api.mcp.http" in loaded, done.stderr
    assert not {"mcp", "mcp_types", "starlette", "anyio"} & set(loaded)


def test_many_requests_at_once_use_no_more_connections_than_the_pool_has(acme):
    """Each is given back: 200 calls pass through a pool of 8 by 8 threads."""
    call = message("tools/call", name="mem_save", arguments={})

    def save(number):
        arguments = {"type": "learning", "title": f"T{number}", "content": f"Fact {number}."}
        answer = post(acme, call | {"params": {"name": "mem_save", "arguments": arguments}})
        return answer.json()["result"]["content"][0]["text"]

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(save, range(200)))
    assert answers == [f"Saved [learning] T{number}" for number in range(200)]
    assert len(kept(acme)) == 200
