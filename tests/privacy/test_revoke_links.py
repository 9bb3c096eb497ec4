"""Revoking the links to a person's own pages, by REST: who may, what it leaves, and that it outlives all."""

import json
import secrets
from importlib import import_module

import pytest
from django.db import connections, transaction
from django.utils import timezone

from memoryproject.backup import journal
from tenants.errors import Forbidden, Unauthenticated
from tenants.models import LinkRevocation, StoredAnswer
from tenants.person_links import links_out, make_link, open_sealed, revoke_links
from tenants.scope import scope
from tenants.tombstones import subject_of
from tests.backup.conftest import file, place
from tests.backup.places import backup, restore
from tests.native.shapes import problem
from tests.privacy import people

__all__ = ["file", "place"]


@pytest.fixture
def user() -> str:
    return f"ann-{secrets.token_hex(6)}"


@pytest.fixture
def officer(acme):
    return acme.with_key(scopes=("privacy",))


def sealed(member, user):
    return make_link(caller=member.caller, user_id=user, now=timezone.now()).path.rpartition("/")[2]


def opens(token):
    try:
        open_sealed(token, now=timezone.now())
    except Unauthenticated:
        return False
    return True


def revocations(member):
    with scope(member.tenant.id):
        return list(LinkRevocation.objects.filter(tenant_id=member.tenant.id))


def revoked(member, user, **headers):
    return member.http.delete(f"/api/v1/subjects/{user}/link", headers=headers)


def test_it_is_idempotent_and_audited_each_time(officer, user):
    for _ in range(2):
        assert revoked(officer, user).status_code == 204
    (row,) = revocations(officer)
    assert row.subject == subject_of(tenant_id=officer.tenant.id, user_id=user)
    entries = officer.http.get("/api/v1/audit", params={"user_id": user}).json()["results"]
    assert [one["action"] for one in entries] == ["subject.link.revoke"] * 2
    assert user not in json.dumps(entries)


def test_it_is_done_once_by_its_key_and_the_answer_names_nobody(officer, user):
    first = revoked(officer, user, **{"Idempotency-Key": "k"})
    (row,) = revocations(officer)
    again = revoked(officer, user, **{"Idempotency-Key": "k"})
    assert (first.status_code, again.headers["Idempotency-Replayed"]) == (204, "true")
    assert [one.void_until for one in revocations(officer)] == [row.void_until]
    with scope(officer.tenant.id):
        assert user not in repr(StoredAnswer.objects.filter(tenant_id=officer.tenant.id).values())


def test_who_may(acme, officer, user):
    problem(revoked(acme.with_key(scopes=("read", "write")), user), 403)
    problem(revoked(acme.with_key(scopes=("privacy",), user_id="bob"), user), 403)
    problem(revoked(acme.with_key(scopes=("privacy",), agent_id="coder"), user), 403)
    assert revoked(acme.with_key(scopes=("privacy",), user_id=user), user).status_code == 204
    part = acme.with_key(scopes=("privacy",), project="apollo").caller
    for refused in (
        lambda: revoke_links(caller=part, user_id=user),
        lambda: links_out(caller=part, user_id=user, now=timezone.now()),
    ):
        with pytest.raises(Forbidden):
            refused()


def test_it_counts_the_links_that_work(officer, user):
    def count():
        out = links_out(caller=officer.caller, user_id=user, now=timezone.now())
        return out.count, out.until, out.void_until is not None

    assert count() == (0, None, False)
    ends = [
        make_link(caller=officer.caller, user_id=user, seconds=seconds, now=timezone.now()).expires_at
        for seconds in (7_200, 60)
    ]
    sealed(officer, "bob")
    make_link(caller=officer.caller, user_id=user, seconds=60, now=timezone.now().replace(year=2025))
    assert count() == (2, max(ends), False)
    revoke_links(caller=officer.caller, user_id=user)
    assert count() == (0, None, True)
    sealed(officer, user)
    assert count()[0] == 1


def test_nothing_of_it_names_the_person_after_an_erasure(acme, officer, user):
    people.live(acme, user)
    old = sealed(officer, user)
    assert people.erase(acme, user).receipt["residue"] == {}
    assert len(revocations(officer)) == 1
    assert not opens(old)


def test_a_restore_brings_no_link_back(acme, officer, user, file):
    token = sealed(officer, user)
    backup(file, acme.tenant)
    revoke_links(caller=officer.caller, user_id=user)
    restore(file, acme.tenant)
    assert not opens(token)


def test_a_restore_on_another_machine_has_them_from_the_file_of_erasures(acme, officer, user, file, place):
    revoke_links(caller=officer.caller, user_id=user)
    backup(file, acme.tenant)
    void = revoke_links(caller=officer.caller, user_id=user).void_until
    revoke_links(caller=officer.caller, user_id="since")
    erasures = file.parent / "erasures.jsonl"
    assert journal.write(erasures, force=False)["links"] >= 2
    assert user not in erasures.read_text()
    place.manage("restore", str(file), "--erasures", str(erasures))
    query = (
        "SELECT array_agg(void_until ORDER BY void_until) FROM tenants_linkrevocation WHERE tenant_id = %s"
    )
    found = place.ask(query, acme.tenant.id)
    assert found[0] == void
    assert len(found) == 2


def test_who_was_erased_before_there_were_revocations_has_no_link_left_either(acme, officer, user):
    tombstone = people.erase(acme, user)
    migration = import_module("tenants.migrations.0010_person_links")
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM tenants_linkrevocation")
        cursor.execute(migration.OF_THE_ERASED)
        cursor.execute(
            "SELECT void_until FROM tenants_linkrevocation WHERE subject = %s", [tombstone.subject]
        )
        found = cursor.fetchall()
        transaction.set_rollback(True, using="owner")
    assert found == [(tombstone.erased_at,)]
