"""A receipt says what was erased, and nobody can change a letter of it."""

import base64
import copy
import json

import pytest
from django.core.management import CommandError, call_command

from tenants.models import AuditEntry
from tenants.privacy.receipts import Digest, is_genuine, public_key
from tenants.scope import scope
from tenants.tombstones import subject_of
from tests.conftest import make_member
from tests.privacy import people


@pytest.fixture(scope="module")
def house(server):
    return make_member("acme", server)


@pytest.fixture(scope="module")
def exported(house):
    people.live(house, "ann-4711")
    return people.export(house, "ann-4711")


@pytest.fixture(scope="module")
def receipt(house, exported):
    people.erase(house, "ann-4711")
    officer = house.with_key(scopes=("privacy",))
    (found,) = officer.http.get("/api/v1/subjects/ann-4711/receipts").json()["results"]
    return found["receipt"]


def verified(tmp_path, receipt, capsys, *options):
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(receipt))
    call_command("verify_receipt", str(file), *options)
    return capsys.readouterr().out


def test_a_receipt_is_valid_as_it_was_answered(receipt, tmp_path, capsys):
    assert verified(tmp_path, receipt, capsys) == "valid\n"
    assert verified(tmp_path, {"receipt": receipt}, capsys) == "valid\n"
    assert is_genuine(receipt)


PARTS = ["version", "id", "tenant", "subject", "erased_at", "completed_at", "erased", "digests", "residue",
         "coincidences", "passes", "seconds", "algorithm", "key"]  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_a_receipt_that_was_changed_anywhere_is_invalid(receipt, name):
    assert set(receipt) == {*PARTS, "signature"}
    changed, missing = copy.deepcopy(receipt), copy.deepcopy(receipt)
    changed[name] = {"episode": 1} if isinstance(receipt[name], dict) else "another"
    del missing[name]
    assert not is_genuine(changed)
    assert not is_genuine(missing)
    assert not is_genuine({**receipt, "more": 1})


@pytest.mark.parametrize("signature", ["", "x", "é", None, 1, base64.b64encode(b"\0" * 64).decode()])
def test_another_signature_is_invalid(receipt, signature):
    assert not is_genuine({**receipt, "signature": signature})


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "null", "{}", '{"receipt": null}'])
def test_what_is_no_receipt_is_invalid(tmp_path, text):
    file = tmp_path / "receipt.json"
    file.write_text(text)
    with pytest.raises(CommandError, match="invalid"):
        call_command("verify_receipt", str(file))
    with pytest.raises(CommandError, match="invalid"):
        call_command("verify_receipt", str(tmp_path / "missing.json"))


def test_a_server_with_another_secret_takes_it_for_invalid_without_the_key(receipt, settings, house):
    ours = house.http.get("/api/v1/receipts/key").json()
    settings.SECRET_KEY = "another"
    assert not is_genuine(receipt)
    assert is_genuine(receipt, key=ours["public_key"])
    assert ours["id"] == receipt["key"] != public_key()["id"]
    assert not is_genuine(receipt, key="x")


def test_it_is_about_one_person_and_names_nobody(receipt, house, tmp_path, capsys):
    assert receipt["subject"] == subject_of(tenant_id=house.tenant.id, user_id="ann-4711")
    assert verified(tmp_path, receipt, capsys, "--user", "ann-4711") == "valid\n"
    with pytest.raises(CommandError, match="about somebody else"):
        verified(tmp_path, receipt, capsys, "--user", "bob")
    text = json.dumps({**receipt, "signature": ""})
    assert "ann" not in text.replace(house.tenant.slug, "")
    assert "sesame" not in text


STORES = ["episode", "event", "observation", "injection", "session", "write_decision", "feedback", "document",
          "chunk", "entity", "evaluation_query"]  # fmt: skip


@pytest.mark.parametrize("store", STORES)
def test_its_digests_are_those_of_what_was_exported_before(receipt, exported, store):
    digest = Digest()
    records = [one for one in exported if one["kind"] == store]
    for record in reversed(records):
        digest.add(record)
    assert receipt["erased"][store] == len(records) > 0
    assert receipt["digests"][store] == digest.joined()
    digest.add(records[0])
    assert receipt["digests"][store] != digest.joined()


def test_the_log_tells_when_it_began_and_when_it_was_done(receipt, house):
    with scope(house.tenant.id):
        begun, done = AuditEntry.objects.filter(action__startswith="subject.erase").order_by("at")
    assert (begun.action, done.action) == ("subject.erase", "subject.erased")
    assert begun.target == done.target == f"subject:{receipt['subject'][:12]}"
    assert done.details == {
        "erased": {name: count for name, count in receipt["erased"].items() if count},
        "residue": {},
    }
