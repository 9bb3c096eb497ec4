"""The definer functions see past the policies, and therefore confine themselves."""

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections

from observations import querysets
from observations.lexemes import mark_of, term
from observations.types import ObservationFilter
from tenants.scope import NoTenantScope, scope
from tests.observations.notes import fill, note

FIND = """
SELECT id FROM observations_find({wanted}, ARRAY['x']::tsquery[], ARRAY[1.0], 5, ARRAY['orders', ''], NULL,
                                 NULL, NULL, {tags}, NULL, NULL, NULL, 100)
"""


def found(caller, corpora, marks, **where):
    """What acme's scope is told when it asks for whatever it likes."""
    wanted = " | ".join(term("word", mark) for mark in marks)
    with scope(caller.tenant_id):
        candidates = querysets.find(
            wanted=wanted, terms=[wanted], weights=[1.0], mean_length=3.0, corpora=corpora,
            where=ObservationFilter(**where), most=100,
        )  # fmt: skip
        counts = querysets.count(terms=[wanted], corpora=corpora, user_id="")
    return len(candidates), *counts


@pytest.mark.parametrize("where", [{}, {"tags": ("a",)}, {"session_id": "s1"}, {"user_id": "ann"}])
def test_another_tenants_corpora_are_empty(acme, globex, where):
    note(globex.caller, "word one", tags=("a",), user_id="ann")
    note(globex.caller, "word two", tags=("a",), user_id="ann", scope="global")
    marks = [mark_of(globex.tenant.id, name) for name in ("orders", "")]
    assert found(acme.caller, ["orders", ""], marks, **where) == (0, 0)
    assert found(globex.caller, ["orders", ""], marks, **where) == (2, 2), "there is something to be found"


def test_two_corpora_whose_marks_are_the_same_are_told_apart(acme, monkeypatch):
    monkeypatch.setattr("observations.indexing.mark_of", lambda *_named: "same")
    monkeypatch.setattr("observations.keyword.mark_of", lambda *_named: "same")
    monkeypatch.setattr("observations.statistics.mark_of", lambda *_named: "same")
    note(acme.caller, "word one")
    note(acme.caller, "word word two", project="billing")
    note(acme.caller, "word three", project="stock", scope="global")
    from tests.observations.notes import search

    told = [hit.observation.content for hit in search(acme.caller, "word", mode="any")]
    assert sorted(told) == ["word one", "word three"]
    assert len(search(acme.caller, "word", mode="all", project=None)) == 3


def test_without_a_tenant_nothing_is_told(acme):
    fill(acme.caller, ["word one"])
    with pytest.raises(NoTenantScope), connection.cursor() as cursor:
        cursor.execute(FIND.format(wanted="'word'", tags="NULL"))
    with psycopg.connect(settings.DATABASE_URLS["default"]) as raw:
        wanted = f"{term('word', mark_of(acme.tenant.id, 'orders'))!r}".replace('"', "")
        for tags in ("NULL", "ARRAY['a']"):
            statement = FIND.format(wanted="%s::tsquery", tags=tags)
            assert raw.execute(statement, [wanted]).fetchall() == []
        count = "SELECT n FROM observations_count(ARRAY[%s]::tsquery[], ARRAY['orders', ''], NULL) n"
        assert raw.execute(count, [wanted]).fetchall() == [(0,)]


def test_only_the_app_may_call_them():
    statement = "SELECT has_function_privilege(%s, oid, 'EXECUTE') FROM pg_proc WHERE proname = %s"
    with connections["owner"].cursor() as cursor:
        for function in ("observations_find", "observations_count"):
            for role, may in (("strata_app", True), ("public", False)):
                cursor.execute(statement, [role, function])
                assert cursor.fetchall() == [(may,)], (role, function)


def test_what_is_in_the_trash_is_not_told_by_any_table(acme):
    from tests.observations.notes import delete

    one = note(acme.caller, "word one").observation
    delete(acme.caller, one.id)
    assert found(acme.caller, ["orders", ""], [mark_of(acme.tenant.id, "orders")]) == (0, 0)
