"""Wherever something of a person can stand is answered for: each table, each family of Redis keys."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps

from knowledge.models import Deployment, Procedure
from ledger.models import Injection, RecallHour
from tenants.models import (
    Agent,
    AuditEntry,
    Invitation,
    LinkRevocation,
    Member,
    PolicyVersion,
    ProviderUsage,
    Tenant,
    TenantEmbedding,
    Tombstone,
)
from tenants.privacy.registry import Keys, Rows, handlers
from tenants.privacy.residue import EXEMPT, MOMENTS, VOCABULARY
from tests.architecture.sources import ROOT
from tests.isolation.tables import TABLES, TENANT_MODELS
from webhooks.models import Webhook
from working.models import Session

# Tables that no erasure touches and no export shows, each with its reason.
NOBODYS = {
    Tenant: "a customer of the operator's, not a person in its memory",
    Agent: "what an operator declares of a program",
    AuditEntry: "can only be added to; an erased person stands in it by a pseudonym",
    Member: "an account of Django's, which the operator makes and removes",
    Invitation: "of somebody who has no account yet; goes with its use, and soon after it has expired",
    PolicyVersion: "settings of a tenant or an agent",
    ProviderUsage: "sums by tenant and day",
    RecallHour: "sums by tenant and hour",
    Procedure: "what an operator deploys",
    Deployment: "which of them an environment runs",
    TenantEmbedding: "a setting of a tenant; what models refused of an erased person is forgotten at the end",
    Webhook: "an address that an operator has told; whoever is bound to a person makes none",
    LinkRevocation: "keeps links from before an erasure void, and names the person by a pseudonym",
    Tombstone: "is what keeps the person away, and names them by a pseudonym",
}
NO_KEYS = {"tag", "read_tag", "tags_of_person", "find_tag", "all_of"}  # parts of keys, and lists of them


def covered_models() -> set[type]:
    return {one.model for one in handlers().values() if isinstance(one, Rows)}


def uncovered(models: list[type]) -> set[type]:
    return set(models) - covered_models() - set(NOBODYS)


def covered_families() -> set[object]:
    return {family for one in handlers().values() if isinstance(one, Keys) for family in one.families}


def key_modules() -> list:
    return [
        import_module(f"{app.name}.keys")
        for app in apps.get_app_configs()
        if (Path(app.path) / "keys.py").exists() and app.path.startswith(str(ROOT))
    ]


def families(module) -> dict[str, object]:
    """The functions that make keys, and the constants that are keys."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and name not in NO_KEYS
        if (inspect.isfunction(value) and value.__module__ == module.__name__)
        or (isinstance(value, str) and name.isupper())
    }


def test_every_tenant_table_has_a_handler_or_a_reason():
    assert {model.__name__ for model in uncovered(TENANT_MODELS)} == set()


def test_no_table_has_both_and_none_is_listed_that_is_gone():
    assert not covered_models() & set(NOBODYS)
    assert covered_models() | set(NOBODYS) == set(TENANT_MODELS)


def test_a_new_table_would_be_noticed():
    class Diary:
        pass

    assert uncovered([*TENANT_MODELS, Diary]) == {Diary}


@pytest.mark.parametrize("module", key_modules(), ids=lambda one: one.__name__)
def test_every_family_of_keys_has_a_handler(module):
    assert families(module)
    assert {name for name, family in families(module).items() if family not in covered_families()} == set()


def test_both_modules_of_keys_are_found():
    assert {module.__name__ for module in key_modules()} >= {"working.keys", "ledger.keys"}


def test_every_handler_dates_its_rows_by_a_column_that_there_is():
    for one in handlers().values():
        if isinstance(one, Rows):
            assert one.model._meta.get_field(one.moment).get_internal_type() == "DateTimeField"
            assert one.hidden <= {field.attname for field in one.model._meta.concrete_fields}


def test_what_the_residue_scan_is_told_of_columns_is_true():
    for table, column in [*VOCABULARY, *MOMENTS.items()]:
        assert column in {field.column for field in TABLES[table]._meta.concrete_fields}
    assert set(EXEMPT) <= set(TABLES)


def test_every_column_of_what_is_begun_anew_is_known():
    """A session that goes on after an erasure keeps its row: what becomes of each column then,
    `working/privacy.py` decides. A new one is to be decided there, and then named here."""
    assert {field.attname for field in Session._meta.concrete_fields} == {
        "id", "tenant_id", "namespace", "user_id", "external_id", "agent_id", "project", "metadata",
        "started_at", "opened_at", "last_activity_at", "ended_at", "last_seq", "turn_count",
        "message_count", "summarised_seq", "compacted_seq", "summary", "summary_at", "lead", "lead_seq",
        "changed_at", "project_key", "began_whole", "let_go_seq", "let_go_at", "emptied_at", "placed_at",
    }  # fmt: skip


def test_every_column_that_is_written_over_is_dated_with_it():
    """A mark that is set again is a new one, under the same id."""
    assert MOMENTS[Injection._meta.db_table] == "marked_at"
