"""What a client sees before it calls anything."""

import time

import pytest
from django.utils import timezone

from tenants.agents.agents import put_agent

SAVING = ["mem_save", "create_long_term_memories"]
SEARCHING = ["mem_search", "search_long_term_memory", "memory_prompt"]
READING = [
    "mem_search", "mem_context", "search_docs", "search_long_term_memory", "memory_prompt",
    "get_current_datetime", "get_long_term_memory", "get_working_memory",
]  # fmt: skip
WRITING = [
    "mem_save", "create_long_term_memories", "edit_long_term_memory", "delete_long_term_memories",
    "compact_long_term_memories", "set_working_memory",
]  # fmt: skip
TYPES = ["decision", "discovery", "bugfix", "pattern", "architecture", "config", "learning", "preference"]


def shape(schema):
    """A JSON schema without its descriptions."""
    if isinstance(schema, dict):
        return {name: shape(value) for name, value in schema.items() if name != "description"}
    return schema


def declare(member, name="coder", **memory):
    put_agent(caller=member.caller, name=name, document={"memory": memory}, now=timezone.now())


def test_the_server_says_who_it_is(acme, door):
    async def look(client):
        return client.server_info, client.protocol_version, client.server_capabilities, client.instructions

    info, version, capabilities, instructions = door.use(acme, look)
    assert (info.name, info.title, info.version) == ("strata", "Strata", "0.1.0")
    assert version == ("2026-07-28" if door.mode == "auto" else "2025-11-25")
    assert capabilities.tools is not None
    assert (capabilities.prompts, capabilities.resources) == (None, None)
    assert "save what you decide" in instructions


def test_the_tools_have_the_schemas_that_agents_know(acme, door):
    listed = door.use(acme, lambda client: client.list_tools())
    known = {tool.name: shape(tool.input_schema) for tool in listed.tools}
    assert sorted(known) == sorted(READING + WRITING)
    assert {name: known[name] for name in ("mem_save", "mem_search", "mem_context", "search_docs")} == {
        "mem_save": {
            "type": "object",
            "properties": {
                "type": {"type": "string"},
                "title": {"type": "string"},
                "content": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["type", "title", "content"],
        },
        "mem_search": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["query"],
        },
        "mem_context": {"type": "object", "properties": {"limit": {"type": "integer"}}},
        "search_docs": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "top_k": {"type": "integer"}},
            "required": ["query"],
        },
    }


def test_every_tool_says_what_it_is_for_and_what_it_does(acme, web):
    listed = web.use(acme, lambda client: client.list_tools())
    for tool in listed.tools:
        assert tool.title
        assert len(tool.description) > 100
        assert tool.annotations.read_only_hint is (tool.name in READING)
        assert tool.annotations.destructive_hint is (tool.name == "delete_long_term_memories")
        assert tool.annotations.open_world_hint is False
        assert all(part["description"] for part in tool.input_schema["properties"].values())


def test_the_eight_types_are_named_where_they_are_needed(acme, web):
    listed = web.use(acme, lambda client: client.list_tools())
    (save,) = [tool for tool in listed.tools if tool.name == "mem_save"]
    for text in (save.description, save.input_schema["properties"]["type"]["description"]):
        assert [word for word in TYPES if word in text] == TYPES


def test_a_read_only_key_sees_no_writing_tool_and_cannot_call_one(acme, either):
    reader = acme.with_key(scopes=("read",))
    assert either.names(reader) == READING
    given = {"type": "decision", "title": "T", "content": "C"}
    assert either.refusal(reader, "mem_save", given) == "Unknown tool: mem_save"
    assert either.call(acme, "mem_search", {"query": "C"})[0] == "No memories found matching the query."


def test_a_key_that_only_writes_sees_no_reading_tool(acme, web):
    writer = acme.with_key(scopes=("write",))
    assert web.names(writer) == WRITING
    assert web.refusal(writer, "mem_search", {"query": "x"}) == "Unknown tool: mem_search"


@pytest.mark.parametrize(
    ("switch", "hidden", "arguments"),
    [
        ("autoSave", SAVING, {"type": "config", "title": "T", "content": "C", "memories": []}),
        ("autoSearch", SEARCHING, {"query": "x"}),
    ],
)
def test_an_agent_s_settings_hide_a_tool_from_its_keys(acme, web, switch, hidden, arguments):
    coder = acme.with_key(agent_id="coder")
    assert set(hidden) <= set(web.names(coder))
    declare(acme, **{switch: False})
    declare(acme, name="other")
    fresh = acme.with_key(agent_id="coder")
    _until(lambda: not set(hidden) & set(web.names(fresh)))
    assert set(web.names(fresh)) == {*READING, *WRITING} - set(hidden)
    for name in hidden:
        assert web.refusal(fresh, name, arguments) == f"Unknown tool: {name}"
    assert set(web.names(acme.with_key(agent_id="other"))) == {*READING, *WRITING}


def test_an_agent_s_settings_hold_over_either_transport(acme, either):
    declare(acme, autoSave=False, autoSearch=False)
    names = either.names(acme.with_key(agent_id="coder"))
    assert set(names) == {*READING, *WRITING} - {*SAVING, *SEARCHING}


def test_mem_context_cannot_be_switched_off(acme, web):
    declare(acme, autoSave=False, autoSearch=False, contextLimit=0)
    assert "mem_context" in web.names(acme.with_key(agent_id="coder"))


def _until(holds, seconds=60.0):
    """The web process believes what it knows of an agent for five seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)
