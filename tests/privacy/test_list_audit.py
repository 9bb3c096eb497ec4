"""The audit log: it can be read, only added to, and names nobody who is remembered."""

import pytest
from django.db import connections
from django.db.utils import ProgrammingError

from tenants import audit
from tenants.caller import Caller
from tenants.errors import Forbidden
from tenants.isolation import roles
from tenants.models import AuditEntry
from tenants.router import admin_role
from tenants.scope import scope
from tenants.subjects import pseudonym
from tests.conftest import make_member
from tests.native.shapes import problem
from tests.privacy import people


@pytest.fixture(scope="module")
def house(server):
    return make_member("acme", server)


@pytest.fixture(scope="module")
def officer(house):
    member = house.with_key(scopes=("privacy",))
    people.live(house, "ann-4711")
    people.export(house, "ann-4711")
    people.export(house, "bob")
    people.erase(house, "ann-4711")
    return member


def entries(member, **query):
    return member.http.get("/api/v1/audit", params=query).json()["results"]


def test_what_was_done_to_people_is_in_it(officer):
    actions = [one["action"] for one in entries(officer)]
    assert actions[0] == "subject.erased"
    assert {"subject.erase", "subject.export", "api_key.create", "tenant.create"} <= set(actions)
    assert actions.count("subject.export") == 2
    (done,) = entries(officer, action="subject.erased")
    assert done.keys() == {"id", "at", "actor", "action", "target", "details"}
    assert done["details"]["erased"]["episode"] == 4


def test_it_can_be_asked_for_one_person_caller_or_deed(officer, house):
    of_ann = entries(officer, user_id="ann-4711")
    assert [one["action"] for one in of_ann] == ["subject.erased", "subject.erase", "subject.export"]
    assert {one["target"] for one in of_ann} == {pseudonym(tenant_id=house.tenant.id, user_id="ann-4711")}
    assert [one["action"] for one in entries(officer, user_id="bob")] == ["subject.export"]
    assert entries(officer, user_id="carol") == []
    assert {one["actor"] for one in entries(officer, actor="test")} == {"test"}
    assert entries(officer, action="nothing") == []


def test_it_comes_page_by_page_newest_first(officer):
    seen, cursor = [], ""
    while cursor is not None:
        answer = officer.http.get("/api/v1/audit", params={"limit": 2, "cursor": cursor}).json()
        seen += answer["results"]
        cursor = answer["next"]
    assert seen == entries(officer)
    assert [one["at"] for one in seen] == sorted((one["at"] for one in seen), reverse=True)


def test_a_bound_key_reads_of_its_own_person_only(officer, house):
    bobs = house.with_key(scopes=("privacy",), user_id="bob")
    assert [one["action"] for one in entries(bobs)] == ["subject.export"]
    problem(bobs.http.get("/api/v1/audit", params={"user_id": "ann-4711"}), 403)
    problem(house.with_key(scopes=("privacy",), agent_id="coder").http.get("/api/v1/audit"), 403)
    problem(house.http.get("/api/v1/audit"), 403)


def test_globex_reads_nothing_of_acme(officer, globex):
    found = entries(globex.with_key(scopes=("privacy",)))
    assert found
    assert not {one["id"] for one in found} & {one["id"] for one in entries(officer)}


def test_a_person_who_comes_with_a_token_stands_in_it_by_the_pseudonym(acme):
    """Whatever they do, and however long the name is."""
    for name in ("ann-4711", "a" * 255):
        token = Caller(tenant_id=acme.tenant.id, tenant="", key_id=name, scopes=frozenset(), kind="jwt")
        with scope(acme.tenant.id):
            entry = audit.record(tenant_id=acme.tenant.id, actor=token.principal, action="test.do")
        assert entry.actor.startswith("subject:")
        assert len(entry.actor) == 20
    service = Caller(tenant_id=acme.tenant.id, tenant="", key_id="ann", scopes=frozenset(), kind="service")
    with scope(acme.tenant.id):
        assert (
            audit.record(tenant_id=acme.tenant.id, actor=service.principal, action="x").actor == "service:ann"
        )
    officer = Caller(tenant_id=acme.tenant.id, tenant="", key_id="x", scopes=frozenset({"privacy"}))
    found = audit.list_entries(caller=officer, limit=9, subject="ann-4711")
    assert [one.action for one in found] == ["test.do"]
    assert found == audit.list_entries(caller=officer, limit=9, actor="jwt:ann-4711")


def test_list_entries_refuses_a_key_of_a_part_of_the_memory(acme):
    with pytest.raises(Forbidden):
        audit.list_entries(caller=acme.with_key(project="apollo").caller, limit=1)


CHANGES = [
    "UPDATE tenants_auditentry SET actor = 'nobody'",
    "UPDATE tenants_auditentry SET details = '{}'",
    "DELETE FROM tenants_auditentry",
    "TRUNCATE tenants_auditentry",
]


@pytest.mark.parametrize("statement", CHANGES)
@pytest.mark.parametrize("alias", ["default", "admin"])
def test_no_role_that_serves_can_change_what_it_says(acme, alias, statement):
    role = admin_role() if alias == "admin" else scope(acme.tenant.id)
    refused = pytest.raises(ProgrammingError, match="permission denied")
    with refused, role, connections[alias].cursor() as cursor:
        cursor.execute(statement)
    with scope(acme.tenant.id):
        assert AuditEntry.objects.exists()


def test_not_even_column_by_column(as_owner_cursor):
    names = roles()
    for role in (names.app, names.admin):
        as_owner_cursor.execute(
            "SELECT bool_or(has_any_column_privilege(%s, 'tenants_auditentry', p))"
            " FROM unnest(ARRAY['UPDATE', 'REFERENCES']) p",
            [role],
        )
        assert as_owner_cursor.fetchone() == (False,)


@pytest.fixture
def as_owner_cursor():
    with connections["owner"].cursor() as cursor:
        yield cursor
