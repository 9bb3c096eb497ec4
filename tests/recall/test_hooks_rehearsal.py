"""A dry run: what an agent's hooks would do with a call, and nothing of it done."""

import pytest
from django.utils import timezone

from recall.hooks.rehearsal import rehearse
from recall.hooks.results import record_result
from recall.hooks.rules import ToolResult
from tenants.agents.agents import put_agent
from tenants.errors import Forbidden, NotFound
from tests.observations.notes import note, rows_left, stored
from working.types import SessionAddress

CALL = ToolResult("bash", {"command": "make test"}, "Error: no database")


@pytest.fixture
def coder(acme):
    hooks = {
        "memorySaveRules": [{"tool": "bash", "matchOutput": "Error"}, {"tool": "bash", "matchOutput": "odd"}],
        "contextInjectTools": [{"tool": "bash"}, {"tool": "bash", "query": "database"}],
        "auditTools": ["bash"],
    }
    spec = {"memory": {"project": "orders"}, "toolHooks": hooks}
    put_agent(caller=acme.caller, name="coder", document=spec, now=timezone.now())
    note(acme.caller, "make test needs the database.")
    return acme


def test_it_tells_what_the_call_itself_would_save_and_saves_nothing(coder):
    before = rows_left(coder.caller)
    told = rehearse(caller=coder.caller, agent="coder", result=CALL)
    assert rows_left(coder.caller) == before
    assert [one.verdict.refusal for one in told.judged] == [None, "output_not_matched"]
    assert [len(one.hits) for one in told.lookups] == [1, 1]
    record_result(
        caller=coder.caller, agent="coder", address=SessionAddress("s9"), result=CALL, now=timezone.now()
    )
    saved = {one.title: one for one in stored(coder.caller, session="s9")}
    for capture in (told.judged[0].saves, told.audits):
        row = saved[capture.title]
        assert (row.content, tuple(row.tags), row.type, row.scope, row.topic_key) == (
            capture.content, capture.tags, capture.type, capture.scope, capture.topic_key,
        )  # fmt: skip


def test_another_tool_is_told_which_have_hooks(coder):
    told = rehearse(caller=coder.caller, agent="coder", result=ToolResult("python", {}, "x"))
    assert (told.judged, told.audits, told.lookups, told.elsewhere) == ((), None, (), ("bash",))


def test_a_lookup_without_anything_to_ask_is_counted(coder):
    told = rehearse(caller=coder.caller, agent="coder", result=ToolResult("bash", {"n": 1}, "x"))
    assert (told.asks_nothing, [one.query for one in told.lookups]) == (1, ["database"])


def test_nobody_tries_another_s_hooks(coder, globex):
    with pytest.raises(NotFound):
        rehearse(caller=globex.caller, agent="coder", result=CALL)
    with pytest.raises(Forbidden):
        rehearse(caller=coder.with_key(agent_id="other").caller, agent="coder", result=CALL)
