"""`/api/v1/agents`: declared, read, listed, deleted; and sessions whose agent wants no summary."""

from urllib.parse import quote

import pytest

from api.native import agent_schemas
from tenants.agents.spec import Document
from tests.native.shapes import problem
from tests.native.test_idle import leave_alone

URL = "/api/v1/agents"
RESOURCE = """
apiVersion: agents.example.io/v1alpha1
kind: Agent
metadata: {name: coder}
spec:
  model: large
  memory: {serverRef: memory, project: Apollo, autoSearch: false}
  toolHooks: {auditTools: [bash]}
  config: {memory: {enabled: true, contextLimit: 9}}
"""


@pytest.fixture
def admin(acme):
    return acme.with_key(scopes=("read", "write", "admin")).http


def put_yaml(http, text, name="coder", media_type="application/yaml", **headers):
    return http.put(f"{URL}/{name}", content=text, headers={"Content-Type": media_type, **headers})


def test_an_agent_is_made_once_and_answered_with_its_defaults(admin, acme):
    answer = admin.put(f"{URL}/coder", json={"memory": {"contextLimit": 0}})
    assert answer.status_code == 201
    body = answer.json()
    assert body.keys() == {"name", "spec", "version", "created_at", "updated_at"}
    assert (body["name"], body["version"], body["created_at"]) == ("coder", 1, body["updated_at"])
    assert body["spec"] == {
        "memory": {
            "project": "coder", "contextLimit": 0,
            "autoSummarize": True, "autoSave": True, "autoSearch": True,
        },
        "toolHooks": {
            "blockedCommands": [], "allowedPaths": [], "auditTools": [], "memorySaveRules": [],
            "contextInjectTools": [],
        },
    }  # fmt: skip
    again = admin.put(f"{URL}/coder", json=body["spec"])
    assert (again.status_code, again.json()) == (200, body)
    assert acme.http.get(f"{URL}/coder").json() == body
    assert admin.put(f"{URL}/coder", json={}).json()["version"] == 2


@pytest.mark.parametrize(
    "media_type", ["application/yaml", "text/yaml; charset=utf-8", "application/x-yaml", "Text/X-YAML"]
)
def test_the_resource_is_taken_as_yaml(admin, media_type):
    answer = put_yaml(admin, RESOURCE, media_type=media_type)
    assert answer.status_code == 201, answer.text
    spec = answer.json()["spec"]
    assert spec["memory"]["serverRef"] == "memory"
    assert (spec["memory"]["project"], spec["memory"]["contextLimit"]) == ("Apollo", 5)
    assert (spec["memory"]["autoSearch"], spec["toolHooks"]["auditTools"]) == (False, ["bash"])
    assert spec["kaos"] == {
        "enabled": True, "type": "local", "contextLimit": 9, "maxSessions": 1000, "maxSessionEvents": 500,
    }  # fmt: skip


def test_the_resource_is_taken_as_json_and_the_plain_document_as_yaml(admin):
    resource = {
        "apiVersion": "kaos.tools/v1alpha1", "kind": "Agent", "metadata": {"name": "helper"},
        "spec": {"config": {"memory": {"type": "redis"}}},
    }  # fmt: skip
    assert admin.put(f"{URL}/helper", json=resource).json()["spec"]["kaos"]["type"] == "redis"
    alone = {"spec": {"config": {"memory": {"maxSessions": 7}}}}
    assert admin.put(f"{URL}/helper", json=alone).json()["spec"]["kaos"]["maxSessions"] == 7
    assert put_yaml(admin, "memory: {autoSave: false}").json()["spec"]["memory"]["autoSave"] is False


@pytest.mark.parametrize(("text", "told"), [
    ("memory: {autoSave: false", "YAML"),
    ("--- {}\n--- {}", "one YAML document, not 2"),
    ("", "one YAML document, not 0"),
    ("memory: {}\nmemory: {}", "stands twice"),
    ("a: &a [*a]", "YAML"),
    ("[" * 50_000, "deeper"),
    ('memory: {project: "a\\0b"}', "NUL"),
])  # fmt: skip
def test_yaml_that_is_none_or_too_much_is_refused(admin, text, told):
    assert told in problem(put_yaml(admin, text), 422)["detail"]
    problem(admin.get(f"{URL}/coder"), 404)


def test_yaml_has_a_bound_of_its_own(admin):
    problem(put_yaml(admin, "# " + "x" * 300_000), 413)
    problem(put_yaml(admin, b"\xff\xfea"), 422)


def test_what_is_not_valid_is_named_as_the_request_has_it(admin):
    rules = [{"tool": "ls"}, {"tool": "bash", "matchOutput": "(a"}]
    plain = problem(
        admin.put(f"{URL}/coder", json={"toolHooks": {"memorySaveRules": rules}}),
        422,
        "toolHooks.memorySaveRules.1.matchOutput",
    )
    assert "toolHooks.memorySaveRules[1] (tool bash): matchOutput is not a valid pattern" in plain["detail"]
    problem(put_yaml(admin, RESOURCE.replace("autoSearch", "autoSaerch")), 422, "spec.memory.autoSaerch")
    problem(put_yaml(admin, RESOURCE.replace("serverRef: memory, ", "")), 422, "spec.memory.serverRef")
    problem(put_yaml(admin, RESOURCE, name="spy"), 422, "metadata.name")
    problem(admin.put(f"{URL}/coder", json={"memory": {"contextLimit": 51}}), 422, "memory.contextLimit")
    problem(admin.get(f"{URL}/coder"), 404)


@pytest.mark.parametrize("name", ["a/b", "a b", "ü", "💡", "..", "policy", "a%2Fb", "x" * 200, "Coder"])
def test_a_name_may_hold_any_character(admin, name):
    path = f"{URL}/{quote(name, safe='').replace('.', '%2E')}"
    assert admin.put(path, json={}).json()["name"] == name
    assert admin.get(path).json()["name"] == admin.get(f"{path}/").json()["name"] == name
    assert admin.delete(path).status_code == 204


@pytest.mark.parametrize("name", ["x" * 256, "a%2F%2F", "%00", "%FF"])
def test_what_is_no_name_is_refused(admin, name):
    problem(admin.put(f"{URL}/{name}", json={"memory": {"project": "p"}}), 422)


def test_agents_are_listed_page_by_page(admin):
    for name in ("b", "a", "c"):
        admin.put(f"{URL}/{name}", json={})
    first = admin.get(f"{URL}?limit=2").json()
    assert ([one["name"] for one in first["results"]], first["next"]) == (["a", "b"], "b")
    rest = admin.get(URL, params={"limit": 2, "cursor": first["next"]}).json()
    assert ([one["name"] for one in rest["results"]], rest["next"]) == (["c"], None)
    assert rest["results"][0] == admin.get(f"{URL}/c").json()
    problem(admin.get(f"{URL}?limit=201"), 422, "limit")


def test_a_deleted_agent_is_gone_and_deleting_again_changes_nothing(admin):
    admin.put(f"{URL}/coder", json={})
    for _time in range(2):
        assert admin.delete(f"{URL}/coder").status_code == 204
        problem(admin.get(f"{URL}/coder"), 404)


def test_only_an_admin_declares_agents(acme, admin):
    admin.put(f"{URL}/coder", json={})
    for scopes in (("read",), ("read", "write"), ("privacy",), ("ingest",)):
        http = acme.with_key(scopes=scopes).http
        problem(http.put(f"{URL}/coder", json={"memory": {"autoSave": False}}), 403)
        problem(http.delete(f"{URL}/coder"), 403)
    assert admin.get(f"{URL}/coder").json()["version"] == 1


def test_a_bound_key_sees_what_it_is_bound_to(acme, admin):
    admin.put(f"{URL}/coder", json={"memory": {"project": "apollo"}})
    admin.put(f"{URL}/spy", json={"memory": {"project": "zeus"}})
    for bound in ({"agent_id": "coder"}, {"project": "apollo"}):
        http = acme.with_key(scopes=("read",), **bound).http
        assert [one["name"] for one in http.get(URL).json()["results"]] == ["coder"]
        assert http.get(f"{URL}/coder").status_code == 200
        problem(http.get(f"{URL}/spy"), 403)
    own = acme.with_key(scopes=("read", "admin"), agent_id="coder").http
    assert own.put(f"{URL}/coder", json={}).status_code == 200
    problem(own.put(f"{URL}/spy", json={}), 403)
    problem(own.delete(f"{URL}/spy"), 403)
    for bound in ({"user_id": "alice"}, {"project": "apollo"}):
        problem(acme.with_key(scopes=("read", "admin"), **bound).http.put(f"{URL}/coder", json={}), 403)


def test_globex_sees_none_of_acme_s_agents(admin, globex):
    admin.put(f"{URL}/coder", json={})
    assert globex.http.get(URL).json() == {"results": [], "next": None}
    problem(globex.http.get(f"{URL}/coder"), 404)


def test_the_openapi_document_has_the_names_that_are_checked():
    def names(model, serializer):
        shown = set(serializer().fields)
        assert shown == {field.alias for field in model.model_fields.values()}
        return shown

    fields = Document.model_fields
    assert names(Document, agent_schemas.AgentDocument) == {"memory", "toolHooks", "kaos"}
    names(fields["memory"].annotation, agent_schemas.Memory)
    names(fields["tool_hooks"].annotation, agent_schemas.ToolHooks)
    for name, serializer in (
        ("memory_save_rules", agent_schemas.MemorySaveRule),
        ("context_inject_tools", agent_schemas.ContextInjectTool),
    ):
        rows = fields["tool_hooks"].annotation.model_fields[name].annotation
        names(rows.__args__[0], serializer)


def ended(http, session, **owner):
    turns = [{"role": "user", "content": "Where is my parcel?"}]
    http.post("/api/v1/sessions", json={"session_id": session, **owner})
    http.post(f"/api/v1/sessions/{session}/turns", json={"turns": turns})
    return http.post(f"/api/v1/sessions/{session}/end", json={}).json()


def test_a_session_of_an_agent_that_wants_no_summary_ends_without_one(admin):
    admin.put(f"{URL}/quiet", json={"memory": {"autoSummarize": False, "project": "Apollo"}})
    admin.put(f"{URL}/coder", json={})
    for number, owner in enumerate(({"agent_id": "quiet"}, {"project": "apollo"})):
        end = ended(admin, f"quiet-{number}", **owner)
        assert (end["summary"], end["episode_id"]) == ("", None)
        assert admin.get(f"/api/v1/sessions/quiet-{number}").json()["ended_at"] is not None
    for number, owner in enumerate(({"agent_id": "coder"}, {"agent_id": "other"}, {"project": "zeus"}, {})):
        assert ended(admin, f"told-{number}", **owner)["summary"].startswith("Session with 1 message")


def test_nor_when_it_is_left_alone(acme, admin):
    admin.put(f"{URL}/quiet", json={"memory": {"autoSummarize": False}})
    turns = {"turns": [{"role": "user", "content": "Where is my parcel?"}], "agent_id": "quiet"}
    acme.http.post("/api/v1/sessions/s/turns", json=turns)
    leave_alone(acme)
    session = acme.http.get("/api/v1/sessions/s").json()
    assert session["ended_at"] is not None
    assert session["summary"] is None
    assert acme.http.get("/api/v1/episodes?session_id=s").json()["results"] == []
