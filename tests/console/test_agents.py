"""Agents: declared, changed, and their hooks tried on a sample with nothing written."""

import json
import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from console.agents.forms import EXAMPLE, EXAMPLE_CALL, EXAMPLE_HOOKS
from observations.models import Observation
from tenants.agents.agents import access_agent, put_agent
from tenants.agents.parsing import parse_yaml, read_declaration
from tenants.agents.spec import Section
from tenants.scope import scope
from tests.console.remembered import HOSTILE
from tests.console.senses import expect_harmless
from tests.observations.notes import note

SPEC = {
    "memory": {"project": "apollo"},
    "toolHooks": {
        "memorySaveRules": [
            {"tool": "bash", "matchOutput": "(?i)error", "type": "bugfix"},
            {"tool": "bash", "matchArgs": {"command": "^make"}},
            {"tool": "bash", "matchArgs": {"path": "x"}},
            {"tool": "bash", "matchOutput": "never seen"},
        ],
        "contextInjectTools": [{"tool": "bash"}],
        "auditTools": ["bash"],
        "blockedCommands": ["rm -rf /"],
    },
}


@pytest.fixture
def coder(admin):
    put_agent(caller=admin.caller, name="coder", document=SPEC, now=timezone.now())
    return admin


def rows(person):
    with scope(person.caller.tenant_id):
        return Observation.objects.filter(tenant_id=person.caller.tenant_id).count()


def test_an_agent_is_declared_and_changed(admin, browse, picture):
    page = browse(admin, allow=("422",))
    page.goto(admin.path("agents"))
    page.get_by_role("link", name="Declare the first one").click()
    page.get_by_label("Name").fill("coder")
    page.get_by_label("Declaration").fill(
        'memory:\n  project: apollo\ntoolHooks:\n  memorySaveRules:\n    - {tool: bash, matchOutput: "("}\n'
    )
    page.get_by_role("button", name="Declare").click()
    expect(page.locator("#id_spec_error")).to_contain_text("toolHooks.memorySaveRules.0.matchOutput:")
    picture(page, "agent-refused")
    page.get_by_label("Declaration").fill("memory:\n  project: apollo\n")
    page.get_by_role("button", name="Declare").click()
    page.get_by_text("Declared, version 1.").wait_for()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Declaration").fill(json.dumps({"memory": {"project": "apollo", "autoSave": False}}))
    page.get_by_role("button", name="Declare").click()
    page.get_by_text("Declared, version 2.").wait_for()
    assert access_agent(caller=admin.caller, name="coder").spec["memory"]["autoSave"] is False
    page.get_by_role("link", name="Forget").click()
    page.get_by_role("button", name="Forget").click()
    page.get_by_text("Forgotten.").wait_for()
    assert admin.open("agent/coder").status_code == 404


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("memory: [", "not valid YAML"),
        ("{", "not valid JSON"),
        ("a: 1\n---\nb: 2", "one YAML document"),
        ("memory:\n  contextLimit: 500", "memory.contextLimit:"),
        ("odd: 1", "odd: Unknown field. Known here: memory, toolHooks, kaos."),
        ("memory: {odd: 1}", "memory.odd: Unknown field. Known here: serverRef, project, contextLimit"),
        (
            "toolHooks: {memorySaveRules: [{tool: bash, odd: 1}]}",
            "memorySaveRules.0.odd: Unknown field. Known here: tool, matchOutput, matchArgs, type, scope.",
        ),
        ("kaos: {odd: 1}", "Known here: enabled, type, contextLimit, maxSessions, maxSessionEvents."),
        ("just text", "Must be an object."),
    ],
)
def test_what_is_wrong_with_a_declaration_is_named(coder, text, problem):
    answer = coder.submit("agent-edit/coder", spec=text)
    assert answer.status_code == 422
    assert problem in answer.text
    assert access_agent(caller=coder.caller, name="coder").version == 1


def test_the_first_declaration_is_an_example_of_every_field(admin):
    assert "# Every field" in admin.open("agent-new").text
    (document,) = parse_yaml(EXAMPLE.encode())
    declared = read_declaration(document, name="x").document
    assert declared.as_json() == document

    def whole(section):
        for name, field in type(section).model_fields.items():
            value = getattr(section, name)
            assert field.alias in EXAMPLE
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, Section):
                    whole(one)

    whole(declared)


def test_an_agent_without_hooks_gets_an_example_that_works(admin):
    put_agent(caller=admin.caller, name="plain", document={}, now=timezone.now())
    page = admin.open("agent-hooks/plain").text
    assert "an example" in page
    assert "make test" in page
    (document,) = parse_yaml(EXAMPLE_HOOKS.encode())
    put_agent(caller=admin.caller, name="plain", document=document, now=timezone.now())
    tried = admin.submit("agent-hooks/plain", **EXAMPLE_CALL).text
    assert "saves</span>" in tried
    assert "an example" not in tried


def test_a_dry_run_tells_what_would_happen_and_writes_nothing(coder, browse, picture):
    found = note(coder.caller, "make test needs the database.", project="apollo", title="Tests").observation
    before = rows(coder)
    page = browse(coder)
    page.goto(coder.path("agent/coder"))
    picture(page, "agent-declared")
    page.get_by_role("link", name="Try its hooks").click()
    page.get_by_label("Tool").fill("bash")
    page.get_by_label("Arguments").fill('{"command": "make test"}')
    page.get_by_label("Output").fill("Error: no database")
    page.get_by_role("button", name="Try it").click()
    tried = page.locator("#tried")
    link = tried.get_by_role("link", name="Tests")
    expect(link).to_have_attribute("href", re.compile(rf"/observations/{found.id}$"))
    heads = ["Rule 1 saves", "Rule 2 saves", "Rule 3 arg missing", "Rule 4 output not matched"]
    expect(tried.locator("h3", has_text=re.compile(r"^\s*Rule"))).to_have_text(heads, use_inner_text=True)
    for said in ("Auto-captured: bash — make test", "Audit: bash (success)"):
        expect(tried).to_contain_text(said)
    picture(page, "agent-tried")
    assert rows(coder) == before


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"tool": "bash", "args": "{"}, "not valid JSON"),
        ({"tool": "bash", "args": "[1]"}, "Must be an object."),
        ({"tool": ""}, "required"),
    ],
)
def test_a_sample_that_cannot_be_is_refused(coder, fields, sentence):
    answer = coder.submit("agent-hooks/coder", **fields)
    assert answer.status_code == 422
    assert sentence in answer.text


def test_a_tool_without_hooks_is_told_which_have_some(coder):
    answer = coder.submit("agent-hooks/coder", tool="Bash")
    assert "no hooks for that tool; it has some for <bdi>bash</bdi>" in answer.text


def test_a_call_that_failed_saves_nothing_and_a_silent_one_neither(coder):
    assert "the call came to no result" in coder.submit("agent-hooks/coder", tool="bash", error="x").text
    made = coder.submit("agent-hooks/coder", tool="bash", args='{"command": "make"}')
    assert "there is no output to save" in made.text


def test_an_editor_tries_hooks_and_declares_nothing(coder, editor):
    assert editor.submit("agent-hooks/coder", tool="bash").status_code == 200
    assert editor.open("agent-edit/coder").status_code == 403
    assert "Edit" not in editor.open("agent/coder").text


def test_hostile_samples_are_shown_and_do_nothing(coder, browse):
    note(coder.caller, HOSTILE, project="apollo", title=HOSTILE)
    page = browse(coder)
    page.on("dialog", lambda _dialog: pytest.fail("a script ran"))
    page.goto(coder.path("agent-hooks/coder"))
    page.get_by_label("Tool").fill("bash")
    page.get_by_label("Arguments").fill(json.dumps({"command": "make alert" + HOSTILE}))
    page.get_by_label("Output").fill(HOSTILE + "x" * 50_000)
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#tried")).to_contain_text("<script>alert(1)</script>", use_inner_text=True)
    expect_harmless(page)
