"""Floats stay floats in columns that keep numbers as decimals."""

import json

import pytest
from django.db import connection

from tenants.json_columns import json_text
from tenants.models import Job
from tenants.scope import scope
from tests.isolation.tables import FACTORIES, store

FLOATS = [1e16, -1e16, 1.5e300, 1.7976931348623157e308, 2.25e22, 123456789012345.6, 1e-7, 5e-324]


@pytest.mark.parametrize("value", [
    FLOATS,
    {"1e+16": "1e+16", 'a"\\': 'say \\"1e+16\\" or ["2e+20', "n": [1e20, {"x": -3e40}]},
    [10**16, 10**400, True, None, "", "e+"],
])  # fmt: skip
def test_the_text_says_the_same_and_no_other_kind_of_number(value):
    found = json.loads(json_text(value))
    assert found == value
    assert repr(found) == repr(value)


@pytest.mark.parametrize("how", ["by hand", "by a model"])
def test_what_jsonb_answers_is_what_was_written(acme, how):
    value = {"floats": FLOATS, "text": "1e+16", "whole": 10**20}
    row = FACTORIES[Job](acme.tenant.id)
    row.payload = value
    store(row)
    with scope(acme.tenant.id), connection.cursor() as cursor:
        if how == "by hand":
            cursor.execute("SELECT (%s::jsonb)::text", [json_text(value)])
            found = json.loads(cursor.fetchone()[0])
        else:
            found = Job.objects.get(tenant_id=acme.tenant.id, id=row.id).payload
    assert {name: repr(one) for name, one in found.items()} == {
        name: repr(one) for name, one in value.items()
    }


def test_a_long_number_is_read_once():
    """Read again from each of its digits, these would take several minutes."""
    value = [1e300, 5e-300, *[10**4_299] * 1_000]
    assert json.loads(json_text(value)) == value
