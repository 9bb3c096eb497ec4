"""`/api/v1/procedures`: read by everybody, written by nobody who has but a key."""

import io
import json

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from knowledge.deploying import deploy_procedures
from knowledge.models import Deployment, Procedure
from knowledge.procedure_files import read_procedure
from tenants.caller import SCOPES
from tenants.models import AuditEntry
from tenants.scope import scope
from tests.native.shapes import problem
from tests.tenants.test_admin_site import form_token, log_in

PATH = "/api/v1/procedures"


def deploy(member, name="greeting", body="Be kind.", version="1", environment="production") -> Procedure:
    data = f"---\nversion: {version}\nagents: [coder]\nowner: ann\n---\n{body}".encode()
    text = read_procedure(data, origin=f"{name}.md")
    (done,) = deploy_procedures(
        tenant_id=member.tenant.id, environment=environment, texts=[text], actor="test", now=timezone.now()
    )
    return done.procedure


def test_a_procedure_is_answered_with_who_deployed_it(acme):
    made = deploy(acme)
    answer = acme.http.get(f"{PATH}/greeting")
    body = answer.json()
    assert body.pop("deployed_at") >= body.pop("created_at")
    assert body == {
        "name": "greeting",
        "version": "1",
        "environment": "production",
        "body": "Be kind.",
        "checksum": made.checksum,
        "agents": ["coder"],
        "metadata": {"agents": ["coder"], "owner": "ann"},
        "created_by": "test",
        "deployed_by": "test",
    }


def test_it_is_read_by_version_and_environment(acme):
    deploy(acme)
    deploy(acme, body="Be brief.", version="2", environment="staging")

    def read(**query: str) -> tuple[str, str | None]:
        body = acme.http.get(f"{PATH}/greeting", params=query).json()
        return body["version"], body["environment"]

    assert read() == ("1", "production")
    assert read(environment="staging") == ("2", "staging")
    assert read(version="2") == ("2", None)
    for query in ({"version": "3"}, {"environment": "nowhere"}, {"version": "1", "environment": "staging"}):
        problem(acme.http.get(f"{PATH}/greeting", params=query), 404)
    problem(acme.http.get(f"{PATH}/nothing"), 404)


def test_a_name_may_hold_a_slash(acme):
    deploy(acme, name="x")
    text = read_procedure(b"---\nname: team/greeting\n---\nBe kind.", origin="a.md")
    deploy_procedures(
        tenant_id=acme.tenant.id, environment="production", texts=[text], actor="test", now=timezone.now()
    )
    assert acme.http.get(f"{PATH}/team%2Fgreeting").json()["body"] == "Be kind."


def test_the_list_has_what_the_environment_runs_by_name(acme, globex):
    for name in ("c", "a", "b"):
        deploy(acme, name=name)
    deploy(acme, name="d", environment="staging")
    first = acme.http.get(PATH, params={"limit": 2}).json()
    second = acme.http.get(PATH, params={"limit": 2, "cursor": first["next"]}).json()
    assert [one["name"] for one in first["results"] + second["results"]] == ["a", "b", "c"]
    assert second["next"] is None
    listed = acme.http.get(PATH, params={"environment": "staging"}).json()["results"]
    assert [one["name"] for one in listed] == ["d"]
    assert globex.http.get(PATH).json()["results"] == []


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["", "/greeting", "/", "/greeting/"])
def test_every_write_is_refused_and_in_the_audit_log(acme, method, path):
    deploy(acme)
    for scopes in (SCOPES, ("read",), ("ingest",)):
        member = acme.with_key(scopes=scopes)
        answer = member.http.request(method, PATH + path, json={"body": "Obey me."})
        assert "manage.py deploy_procedures" in problem(answer, 403)["detail"]
        with scope(acme.tenant.id):
            entry = AuditEntry.objects.filter(action="procedure.write_refused").latest("id")
            assert Procedure.objects.get().body == "Be kind."
            assert Deployment.objects.count() == 1
        assert (entry.actor, entry.target) == (member.caller.principal, path.strip("/"))
        assert entry.details == {"method": method}


def test_a_write_without_a_key_is_401_and_one_with_a_strange_name_is_recorded_too(acme):
    assert httpx.post(f"{acme.http.base_url}{PATH}", json={}).status_code == 401
    problem(acme.http.put(f"{PATH}/{'x' * 900}", json={}), 403)
    problem(acme.http.put(f"{PATH}/a%00b", json={}), 403)


@pytest.fixture
def admin(server: str):
    """A browser in which the demo admin has logged in."""
    out = io.StringIO()
    call_command("demo_tenant", stdout=out)
    demo = json.loads(out.getvalue())
    with httpx.Client(base_url=server, timeout=30) as client:
        assert log_in(client, demo["admin_user"], demo["admin_password"]).status_code == 302
        yield client


def test_the_operator_looks_at_versions_and_deploys_one_that_is_there(acme, admin):
    made = deploy(acme)
    assert "Be kind." in admin.get(f"/admin/knowledge/procedure/{made.id}/change/").text
    for refused in ("procedure/add/", f"procedure/{made.id}/delete/"):
        assert admin.get(f"/admin/knowledge/{refused}").status_code == 403
    page = admin.get("/admin/knowledge/deployment/add/")
    form = {
        "procedure": str(made.id),
        "environment": "staging",
        "csrfmiddlewaretoken": form_token(page),
    }
    answer = admin.post("/admin/knowledge/deployment/add/", data=form)
    assert answer.status_code == 302, answer.text
    assert "staging" in admin.get("/admin/knowledge/deployment/").text
    shown = acme.http.get(f"{PATH}/greeting", params={"environment": "staging"}).json()
    assert (shown["version"], shown["deployed_by"]) == ("1", "admin:admin")
    with scope(acme.tenant.id):
        (entry,) = AuditEntry.objects.filter(action="procedure.deploy", actor="admin:admin")
        one = Deployment.objects.get(environment="staging")
    assert entry.details["environment"] == "staging"
    for refused in ("change", "delete"):
        answer = admin.post(f"/admin/knowledge/deployment/{one.id}/{refused}/", data=form)
        assert answer.status_code == 403
