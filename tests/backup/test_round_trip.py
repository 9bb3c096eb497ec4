"""What goes into a backup comes back row for row."""

import json
import os
import stat
import zipfile

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction
from django_redis import get_redis_connection

from memoryproject.backup import making, rows
from memoryproject.backup.archive import MANIFEST
from memoryproject.backup.catalog import read_tables
from memoryproject.backup.errors import BackupError
from observations.models import Observation
from tenants.models import Member
from tests.backup.places import backup, fill, restore, rows_of, tables, without_log, without_users
from tests.isolation.tables import TABLES


def manifest_of(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(MANIFEST))


def test_every_table_of_a_tenant_is_found():
    assert {table.name for table in tables()} == set(TABLES)


def test_a_new_table_of_a_tenant_is_found_without_being_entered_anywhere():
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(
            "CREATE TABLE newcomer (tenant_id uuid, id uuid, twice text GENERATED ALWAYS AS ('2') STORED)"
        )
        found = {table.name: table for table in read_tables(cursor)}
        transaction.set_rollback(True, using="owner")
    assert found["newcomer"].columns == {"id": "uuid", "tenant_id": "uuid"}


def test_tables_that_others_point_to_come_first():
    names = [table.name for table in tables()]
    assert names.index("tenants_tenant") == 0
    assert names.index("agent_episodes") < names.index("episode_embeddings")


def test_every_row_of_every_table_comes_back_here(tenant, file, monkeypatch):
    monkeypatch.setattr(rows, "PIECE", 300)  # so that a table has several pieces
    before = rows_of(tenant)
    assert all(before.values()), [name for name, texts in before.items() if not texts]
    backup(file, tenant)
    fill(tenant)  # what came since is to go
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE agent_episodes SET text = 'changed' WHERE tenant_id = %s", [tenant.id])
    restore(file, tenant)
    after = rows_of(tenant)
    # Here what there is stays.
    merged = {"tenants_auditentry", "tenants_apikey", "tenants_tombstone"}
    merged |= {"tenants_invitation", "tenants_member", "tenants_restriction", "tenants_linkrevocation"}
    assert {name: texts for name, texts in after.items() if name not in merged} == {
        name: texts for name, texts in before.items() if name not in merged
    }
    assert all(set(before[name]) <= set(after[name]) for name in merged)


def test_every_row_comes_back_in_an_empty_database_and_of_one_tenant_out_of_two(tenant, other, file, place):
    User.objects.db_manager("admin").create_user("placed-first")
    before, passed_by = rows_of(tenant), rows_of(other)
    backup(file)
    said = place.manage("restore", str(file), "--tenant", tenant.slug)
    assert "1 tenants" in said
    assert without_log(without_users(place.rows(tenant.id))) == without_log(without_users(before))
    assert set(before["tenants_auditentry"]) <= set(place.rows(tenant.id)["tenants_auditentry"])
    assert not any(place.rows(other.id).values())
    assert rows_of(other)["agent_episodes"] == passed_by["agent_episodes"]
    last = max(Observation.objects.using("admin").filter(tenant_id=tenant.id).values_list("id", flat=True))
    assert place.ask("SELECT last_value FROM observations_observation_id_seq") >= last
    names = set(
        Member.objects.using("admin").filter(tenant_id=tenant.id).values_list("user__username", flat=True)
    )
    query = "SELECT array_agg(username) FROM tenants_member m JOIN auth_user u ON u.id = m.user_id"
    query += " WHERE tenant_id = %s"
    assert set(place.ask(query, tenant.id)) == names


def test_one_tenant_s_backup_holds_no_other_tenant_and_no_password(tenant, other, file):
    user = User.objects.db_manager("admin").create_user(
        "officer-" + tenant.slug, password="secret", is_staff=True
    )
    Member(tenant_id=tenant.id, user=user, role="viewer").save(using="admin")
    backup(file, tenant)
    assert [one["slug"] for one in manifest_of(file)["tenants"]] == [tenant.slug]
    with zipfile.ZipFile(file) as archive:
        whole = b"".join(archive.read(name) for name in archive.namelist())
        users = [json.loads(line) for line in archive.read("users.jsonl").splitlines()]
    assert other.slug.encode() not in whole
    assert other.id.bytes not in whole
    mine = next(one for one in users if one["username"] == user.username)
    assert (mine["password"], mine["is_staff"]) == ("", False)
    assert len(users) == 3


def test_a_whole_backup_has_passwords(tenant, file):
    user = User.objects.db_manager("admin").create_user("whole-" + tenant.slug, password="secret")
    backup(file)
    with zipfile.ZipFile(file) as archive:
        users = {row["username"]: row for row in map(json.loads, archive.read("users.jsonl").splitlines())}
    assert users[user.username]["password"] == user.password


def test_rows_of_later_than_the_snapshot_are_not_in_the_file(tenant, file, monkeypatch):
    before = rows_of(tenant)

    def write_meanwhile(cursor):
        with connections["owner"].cursor() as other:
            other.execute("UPDATE agent_episodes SET text = 'meanwhile' WHERE tenant_id = %s", [tenant.id])
            other.execute("DELETE FROM ledger_injection WHERE tenant_id = %s", [tenant.id])
        return read_tables(cursor)

    monkeypatch.setattr(making, "read_tables", write_meanwhile)
    backup(file, tenant)
    restore(file, tenant)
    after = rows_of(tenant)
    assert after["agent_episodes"] == before["agent_episodes"]
    assert after["ledger_injection"] == before["ledger_injection"]


def test_only_its_owner_can_read_the_file_and_nothing_is_left_beside_it(tenant, file):
    made = backup(file, tenant)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(file.parent) == [file.name]
    assert made.bytes == file.stat().st_size
    assert made.rows == sum(one["rows"] for one in manifest_of(file)["tables"].values())


def test_a_file_that_there_is_stays(tenant, file):
    file.write_text("mine")
    with pytest.raises(BackupError, match="exists already"):
        backup(file, tenant)
    assert file.read_text() == "mine"


def test_fields_that_only_redis_holds_come_back_with_their_hold(acme, file):
    path = "/working-memory/talk"
    acme.http.put(path, json={"data": {"scratchpad": "only here"}, "ttl_seconds": 3000})
    backup(file, acme.tenant)
    acme.http.put(path, json={"data": {"scratchpad": "later"}})
    done = restore(file, acme.tenant)
    assert done.sessions == 1
    assert "only here" in acme.http.get(path).text
    redis = get_redis_connection()
    (key,) = redis.keys(f"working_memory:{{{acme.tenant.id.hex}/*")
    assert 0 < redis.ttl(key) <= 86_400


def test_copies_in_redis_of_what_came_since_are_gone(acme, file):
    turns = "/api/v1/sessions/talk/turns"
    acme.http.post("/api/v1/sessions", json={"session_id": "talk"})
    acme.http.post(turns, json={"turns": [{"role": "user", "content": "before"}]})
    backup(file, acme.tenant)
    acme.http.post(turns, json={"turns": [{"role": "user", "content": "since"}]})
    restore(file, acme.tenant)
    acme.http.post(turns, json={"turns": [{"role": "user", "content": "after"}]})
    shown = acme.http.get("/api/v1/sessions/talk/window").text
    assert "before" in shown
    assert "after" in shown
    assert "since" not in shown


def test_ids_of_observations_go_on_behind_the_greatest(tenant, file):
    backup(file, tenant)
    restore(file, tenant)
    greatest = Observation.objects.using("admin").filter(tenant_id=tenant.id).latest("id").id
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT nextval('observations_observation_id_seq')")
        assert cursor.fetchone()[0] > greatest


def test_another_tenant_of_that_name_steps_aside(tenant, file, place):
    backup(file, tenant)
    fresh = place.manage("create_tenant", tenant.slug)
    refused = place.refused("restore", str(file))
    assert f"The database has {tenant.slug} already" in refused
    place.manage("restore", str(file), "--replace")
    assert place.ask("SELECT id FROM tenants_tenant WHERE slug = %s", tenant.slug) == tenant.id
    assert place.ask(
        "SELECT disabled_at IS NOT NULL AND slug <> name FROM tenants_tenant WHERE id = %s", fresh
    )
