"""Whoever was erased after a backup stays erased, and a key that was ended stays ended."""

import json
import secrets

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from django_redis import get_redis_connection

from episodic.models import SummaryPartition
from episodic.summary_retiring import REFRESH
from memoryproject.backup import journal
from memoryproject.backup.errors import BackupError
from tenants.api_keys import get_api_key, revoke_api_key
from tenants.members import add_member, remove_member
from tenants.models import ApiKey, AuditEntry, Job, Member, Restriction, Tombstone
from tests.backup.places import backup, restore, rows_of
from tests.isolation.tables import FACTORIES, store
from tests.observations.notes import note
from tests.privacy.people import WORDS, erase, live
from tests.store.items import get, put


@pytest.fixture
def user():
    return f"ann-{secrets.token_hex(6)}"


def redis_texts(tenant):
    redis = get_redis_connection()
    keys = redis.keys(f"*{tenant.id.hex}*")
    return " ".join([*keys, *(str(redis.hgetall(key)) for key in keys if redis.type(key) == "hash")])


def texts(rows):
    return "\n".join(text for found in rows.values() for text in found)


def test_a_person_erased_since_is_in_no_table_and_no_key_after_a_restore(acme, file, user):
    word = f"w{secrets.token_hex(6)}"
    live(acme, user, word=word)
    live(acme, f"bob-{user}", word="other")
    backup(file, acme.tenant)
    tombstone = erase(acme, user)
    kept = texts(rows_of(acme.tenant))
    assert user not in kept.replace(f"bob-{user}", "")
    done = restore(file, acme.tenant)
    assert done.erased == 1
    rows = rows_of(acme.tenant)
    told = texts(rows).replace(f"bob-{user}", "")
    assert user not in told
    assert word not in told
    assert all(f"other {one}" in told for one in WORDS if one not in {"field", "first"})
    in_redis = redis_texts(acme.tenant).replace(f"bob-{user}", "")
    assert user not in in_redis
    assert word not in in_redis
    assert "other field" in in_redis
    assert Tombstone.objects.using("admin").get(id=tombstone.id).receipt == tombstone.receipt
    entry = AuditEntry.objects.using("admin").filter(tenant_id=acme.tenant.id, action="tenant.restore").get()
    assert entry.details["erased_again"] == 1


def test_a_person_erased_since_stays_so_on_another_machine_with_the_file_of_erasures(acme, file, user, place):
    live(acme, user, word="sesame")
    backup(file, acme.tenant)
    erase(acme, user)
    erasures = file.parent / "erasures.jsonl"
    assert journal.write(erasures, force=False)["erasure"] > 0
    assert user not in erasures.read_text()
    said = place.manage("restore", str(file), "--erasures", str(erasures))
    assert "Erasures applied again: 1" in said
    told = texts(place.rows(acme.tenant.id))
    assert user not in told
    assert "sesame" not in told
    assert place.ask("SELECT count(*) FROM tenants_tombstone WHERE tenant_id = %s", acme.tenant.id) == 1


def keep_items(member, user, word):
    """Of nobody, apart from those of others by the namespace alone."""
    vectors = [{"path": "text", "vector": [1.0, 0.5]}]
    put(member, ["users", user, "notes"], "tea", {"text": f"{word} item"}, vectors=vectors)
    put(member, ["users", f"{user}x"], "tea", {"text": "other item"}, vectors=vectors)


def talk(member, session, data, word):
    """In a session of no user, whose working memory says what `data` is."""
    fields = {"data": data | {"scratchpad": f"{word} field"}}
    member.http.put(f"/working-memory/{session}", json=fields).raise_for_status()
    path, turn = f"/api/v1/sessions/{session}", {"role": "user", "content": f"{word} turn"}
    member.http.post(f"{path}/turns", json={"turns": [turn]}).raise_for_status()
    member.http.put(f"{path}/checkpoint", json={"step": f"{word} checkpoint"}).raise_for_status()
    mark = {"item_key": "skill:x", "value": f"{word} mark"}
    member.http.post(f"/ledger/{session}/mark", json=mark).raise_for_status()


def test_one_whom_only_a_namespace_of_the_store_names_stays_erased(acme, file, user):
    word = f"w{secrets.token_hex(6)}"
    keep_items(acme, user, word)
    backup(file, acme.tenant)
    erase(acme, user)
    assert restore(file, acme.tenant).erased == 1
    told = texts(rows_of(acme.tenant))
    assert word not in told
    assert user not in told.replace(f"{user}x", "")
    assert get(acme, ["users", f"{user}x"], "tea") is not None


def test_one_whom_only_working_memory_names_stays_erased(acme, file, user):
    word = f"w{secrets.token_hex(6)}"
    talk(acme, "hers", {"user_id": user}, word)
    talk(acme, "hers-by-token", {"entities": {"user": f"jwt:{user}"}}, word)
    talk(acme, "of-both", {"entities": [{"type": "user", "id": one} for one in (user, "bob")]}, "other")
    talk(acme, "of-bob", {"user_id": "bob"}, "other")
    backup(file, acme.tenant)
    erase(acme, user)
    done = restore(file, acme.tenant)
    assert (done.erased, done.sessions) == (1, 2)
    told = texts(rows_of(acme.tenant))
    assert [one for one in ("turn", "checkpoint", "mark") if f"{word} {one}" in told] == []
    assert [told.count(f"other {one}") for one in ("turn", "checkpoint", "mark")] == [2, 2, 2]
    in_redis = redis_texts(acme.tenant)
    assert word not in in_redis
    assert in_redis.count("other field") == 2


def list_topics(member, items):
    body = {"text": "Bob's scene.", "user_id": "bob", "topics": items}
    member.http.post("/api/v1/episodes", json=body).raise_for_status()


def list_mentions(member, items):
    told = {"agent_id": "coder", "conversation_id": "talk", "summary": "Bob's scene."}
    member.http.post("/episodic/store", json=told | {"entities_mentioned": items}).raise_for_status()


def list_tags(member, items):
    note(member.caller, "Bob's scene.", user_id="bob", tags=items)


@pytest.mark.parametrize("tell", [list_topics, list_mentions, list_tags])
def test_one_whom_only_a_list_of_others_names_stays_out_of_it(tell, acme, file, user):
    tell(acme, [user, "green-tea"])
    backup(file, acme.tenant)
    erase(acme, user)
    assert restore(file, acme.tenant).erased == 1
    told = texts(rows_of(acme.tenant))
    assert user not in told
    assert "green-tea" in told
    assert "Bob's scene." in told


def test_a_summary_of_theirs_and_others_is_made_again_without_them(acme, file, user):
    shared = FACTORIES[SummaryPartition](acme.tenant.id)
    shared.users, shared.group, shared.summary = [user, "bob"], {"namespace": "home"}, "Of both."
    store(shared)
    backup(file, acme.tenant)
    erase(acme, user)
    Job.objects.using("admin").filter(tenant_id=acme.tenant.id, kind=REFRESH).delete()
    assert restore(file, acme.tenant).erased == 1
    assert "Of both." not in texts(rows_of(acme.tenant))
    job = Job.objects.using("admin").get(tenant_id=acme.tenant.id, kind=REFRESH)
    assert job.payload == {"view": str(shared.view_id), "group": shared.group}


def test_both_stay_erased_on_another_machine_with_the_file_of_erasures(acme, file, user, place):
    keep_items(acme, user, "sesame")
    talk(acme, "hers", {"user_id": f"zoe-{user}"}, "sesame")
    backup(file, acme.tenant)
    for one in (user, f"zoe-{user}"):
        erase(acme, one)
    erasures = file.parent / "erasures.jsonl"
    journal.write(erasures, force=False)
    said = place.manage("restore", str(file), "--erasures", str(erasures))
    assert "Erasures applied again: 2" in said
    assert "sesame" not in texts(place.rows(acme.tenant.id))


def test_a_session_that_became_theirs_after_the_erasure_comes_back_whole(acme, file, user):
    talk(acme, "old", {"user_id": "bob"}, "former")
    erase(acme, user)
    talk(acme, "old", {"user_id": user}, "later")
    backup(file, acme.tenant)
    assert restore(file, acme.tenant).sessions == 1
    told = texts(rows_of(acme.tenant))
    assert "former turn" in told
    assert "later turn" in told
    assert "later field" in redis_texts(acme.tenant)


def test_one_who_came_back_before_the_backup_keeps_what_came_since_the_erasure(acme, file, user):
    live(acme, user, word="former")
    erase(acme, user)
    acme.http.post("/api/v1/episodes", params={"user_id": user}, json={"text": "a new beginning"})
    backup(file, acme.tenant)
    restore(file, acme.tenant)
    told = texts(rows_of(acme.tenant))
    assert "a new beginning" in told
    assert "former" not in told


def test_a_key_revoked_since_stays_revoked(acme, file):
    second = acme.with_key()
    backup(file, acme.tenant)
    key = get_api_key(second.caller.key_id)
    revoke_api_key(key=key, actor="test", now=timezone.now())
    restore(file, acme.tenant)
    assert get_api_key(key.key_id).revoked_at is not None
    assert get_api_key(acme.caller.key_id).revoked_at is None


def test_a_key_made_since_goes_on(acme, file):
    backup(file, acme.tenant)
    second = acme.with_key()
    restore(file, acme.tenant)
    assert second.http.get("/api/v1/sessions").is_success
    assert acme.http.get("/api/v1/sessions").is_success


def test_a_key_revoked_since_stays_revoked_on_another_machine(acme, file, place):
    second = acme.with_key()
    backup(file, acme.tenant)
    revoke_api_key(key=get_api_key(second.caller.key_id), actor="test", now=timezone.now())
    erasures = file.parent / "erasures.jsonl"
    journal.write(erasures, force=False)
    place.manage("restore", str(file), "--erasures", str(erasures))
    query = "SELECT revoked_at IS NOT NULL FROM tenants_apikey WHERE key_id = %s"
    assert place.ask(query, second.caller.key_id)
    assert not place.ask(query, acme.caller.key_id)


def test_a_member_removed_since_stays_out(acme, file):
    person = User(username=f"gone-{secrets.token_hex(4)}")
    person.save(using="admin")
    member = add_member(tenant=acme.tenant, user=person, role="admin", actor="test")
    backup(file, acme.tenant)
    remove_member(member=member, actor="test")
    restore(file, acme.tenant)
    assert not Member.objects.using("admin").filter(tenant_id=acme.tenant.id).exists()


def test_an_administrator_removed_since_does_not_come_back(acme, file):
    person = User.objects.db_manager("admin").create_superuser(f"gone-{secrets.token_hex(4)}", password="x")
    backup(file)
    person.delete(using="admin")
    restore(file, acme.tenant)
    assert not User.objects.using("admin").filter(username=person.username).exists()


def test_people_restricted_since_stay_so_and_those_let_go_on_do_too(acme, file):
    lifted = store(Restriction(tenant_id=acme.tenant.id, user_id="lifted", since=timezone.now()))
    backup(file, acme.tenant)
    lifted.delete(using="admin")
    store(Restriction(tenant_id=acme.tenant.id, user_id="ann", since=timezone.now()))
    restore(file, acme.tenant)
    found = Restriction.objects.using("admin").filter(tenant_id=acme.tenant.id)
    assert list(found.values_list("user_id", flat=True)) == ["ann"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: lines[:-1],
        lambda lines: [lines[0], lines[-1]],
        lambda lines: [lines[0].replace('"format": 1', '"format": 2'), *lines[1:]],
    ],
    ids=["cut", "shortened", "changed"],
)
def test_a_file_of_erasures_that_is_not_as_it_was_written_is_refused(acme, file, tmp_path, spoil):
    backup(file, acme.tenant)
    path = tmp_path / "erasures.jsonl"
    ApiKey.objects.using("admin").filter(tenant_id=acme.tenant.id).update(expires_at=timezone.now())
    journal.write(path, force=False)
    path.write_text("\n".join(spoil(path.read_text().splitlines())) + "\n")
    before = rows_of(acme.tenant)
    with pytest.raises(BackupError):
        restore(file, acme.tenant, erasures=path)
    assert rows_of(acme.tenant) == before


def test_the_file_of_erasures_holds_no_names(acme, file, tmp_path):
    path = tmp_path / "erasures.jsonl"
    journal.write(path, force=False)
    fields = {name for line in path.read_text().splitlines() for name in json.loads(line)}
    keys = {"key_id", "revoked_at", "expires_at"}
    marks = {"format", "secret_key", "signature", "kind"}
    people = {"id", "tenant_id", "subject", "erased_at", "completed_at", "void_until"}
    assert fields <= keys | marks | people
