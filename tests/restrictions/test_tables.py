"""Every table that holds what belongs to a person is frozen by the database, or named here with a reason."""

import pytest
from django.db import ProgrammingError, connection
from django.utils import timezone

from ledger.models import Injection
from tenants.scope import restricted_shown, scope
from tests.isolation.tables import FACTORIES, TABLES, store
from tests.restrictions.people import restrict

NOT_FROZEN = {
    "tenants_apikey": "Keys are no memory, and are read before a tenant is known.",
    "tenants_job": "Jobs hold ids; the runner has those of restricted people wait.",
    "tenants_member": "Members of a tenant are this server's own users.",
    "tenants_restriction": "Says who is restricted.",
}
BY_SESSION = ("chat_events", "working_checkpoint", "working_state")
POLICIES = (
    "SELECT tablename::text FROM pg_policies WHERE policyname = 'restricted' AND permissive = 'RESTRICTIVE'"
)


def named_by_user() -> set[str]:
    return {
        table
        for table, model in TABLES.items()
        if any(field.attname == "user_id" for field in model._meta.concrete_fields)
    }


def test_every_table_of_people_is_frozen_or_has_a_reason_not_to_be(acme):
    with scope(acme.tenant.id), connection.cursor() as cursor:
        cursor.execute(POLICIES)
        frozen = {table for (table,) in cursor.fetchall()}
    assert frozen == (named_by_user() - set(NOT_FROZEN)) | set(BY_SESSION)
    assert set(NOT_FROZEN) <= named_by_user()


@pytest.mark.parametrize("table", sorted(named_by_user() - set(NOT_FROZEN)))
def test_the_database_hides_the_rows_and_shows_them_on_request(table, acme):
    model = TABLES[table]
    row = FACTORIES[model](acme.tenant.id)
    row.user_id = "ann"
    store(row)
    mine = model.objects.filter(tenant_id=acme.tenant.id, id=row.id)

    def seen() -> bool:
        with scope(acme.tenant.id):
            return mine.exists()

    assert seen()
    restrict(acme, "ann")
    assert not seen()
    with restricted_shown():
        assert seen()


def test_the_database_takes_no_row_of_a_restricted_person(acme):
    restrict(acme, "ann")
    row = Injection(tenant_id=acme.tenant.id, user_id="ann", session="s", item_key="k:1", value="v")
    row.marked_at = timezone.now()
    with pytest.raises(ProgrammingError, match='policy "restricted"'), scope(acme.tenant.id):
        row.save(force_insert=True)


def test_what_a_scope_shows_cannot_change_inside_it(acme):
    with scope(acme.tenant.id), pytest.raises(RuntimeError), restricted_shown():
        pass
