"""The self-test passes on tight walls with something there to take everywhere, sees each kind of hole at each
door."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from episodic.models import Entity, Episode
from observations.models import Observation
from observations.types import SearchHit
from tenants import embedding
from tenants.caller import Caller
from tenants.errors import Forbidden, Unavailable
from tenants.isolation import TENANT_MATCHES, policy_statements, roles
from tenants.privacy import registry as privacy
from tenants.scope import ForeignTenantScope, NoTenantScope, rehearsal, scope
from tenants.self_test import run_self_test
from tenants.walls import stage as stages
from tenants.walls.attempts import SelfTest
from tenants.walls.rows import NOBODY_HAS_ANY
from tenants.walls.tables import DELETE, INSERT, READ, TABLES, UNGUARDED, UNSCOPED, UPDATE
from tests.isolation.tables import TABLES as MODELS
from working import keys

EPISODES, OBSERVATIONS, SLOTS = "agent_episodes", "observations_observation", "user_entities"
MINE = f"tenant_id = {TENANT_MATCHES}"


@contextmanager
def changed(does: str, undoes: str) -> Iterator[None]:
    """The walls as an owner has changed them."""
    with psycopg.connect(settings.DATABASE_URLS["owner"], autocommit=True) as connection:
        connection.execute(does)
        try:
            yield
        finally:
            connection.execute(undoes)


@contextmanager
def open_policy(*tables: str) -> Iterator[None]:
    """Nothing but the code's own filters keeps these tables' tenants apart."""
    with ExitStack() as stack:
        for table in tables:
            alter = f"ALTER POLICY app ON {table} USING ({{using}}) WITH CHECK ({MINE})"
            stack.enter_context(changed(alter.format(using="true"), alter.format(using=MINE)))
        yield


def leaks(done: SelfTest) -> set[tuple[str, str, str]]:
    return {(one.door, one.target, one.how) for one in done.leaks}


def at_tables(done: SelfTest) -> set[tuple[str, str]]:
    return {(target, how) for door, target, how in leaks(done) if door == TABLES}


def found_at(done: SelfTest, door: str) -> set[str]:
    return {target for one, target, _how in leaks(done) if one == door}


def test_nothing_leaks_and_at_every_door_there_was_something_to_take(admin):
    done = run_self_test(caller=admin)
    assert done.leaks == ()
    assert done.is_tight
    assert [one for one in done.attempts if one.outcome == "unproved"] == []
    assert all(one.bait and one.by for one in done.attempts)
    assert {one.name for one in done.doors} == {
        "Tables",
        "Around the tables",
        "Sessions in Redis",
        "Memories by id",
        "Recall",
        "A person's export",
        "HTTP API",
        "MCP tools",
    }
    (tables,) = [one for one in done.doors if one.name == TABLES]
    assert {row.target for row in tables.rows} == set(MODELS)
    by = {row.target: [one.by for one in row.attempts] for row in tables.rows}
    assert by[EPISODES] == ["policy"] * 4 + ["guard", "policy"]
    assert by["tenants_auditentry"][:4] == ["policy", "grant", "grant", "policy"]


@pytest.mark.parametrize(
    ("using", "check", "seen"), [("true", MINE, {READ, UPDATE, DELETE, UNGUARDED}), (MINE, "true", {INSERT})]
)
def test_a_policy_that_lets_too_much_through_is_seen(using, check, seen, admin):
    alter = f"ALTER POLICY app ON {EPISODES} USING ({{}}) WITH CHECK ({{}})"
    with changed(alter.format(using, check), alter.format(MINE, MINE)):
        assert at_tables(run_self_test(caller=admin)) == {(EPISODES, how) for how in seen}


def test_a_wall_that_is_switched_off_is_seen_in_a_table_that_nobody_uses_yet(admin):
    table = "observations_observationrevision"
    with changed(
        f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY", f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    ):
        found = at_tables(run_self_test(caller=admin))
    assert found == {(table, how) for how in (READ, UPDATE, DELETE, INSERT, UNGUARDED)}


def test_a_table_without_any_policy_for_the_tenant_is_seen_the_moment_it_exists(admin):
    made = (
        "CREATE TABLE walls_new (id uuid NOT NULL, tenant_id uuid NOT NULL, note varchar(3) NOT NULL,"
        " kind smallint NOT NULL, tags text[] NOT NULL, PRIMARY KEY (tenant_id, id));"
        f' GRANT SELECT, INSERT, UPDATE, DELETE ON walls_new TO "{roles().app}", "{roles().admin}"'
    )
    with changed(made, "DROP TABLE walls_new"):
        done = run_self_test(caller=admin)
    assert at_tables(done) == {("walls_new", how) for how in (READ, UPDATE, DELETE, INSERT, UNGUARDED)}


def test_where_nobody_has_a_row_only_what_no_grant_allows_is_proved(admin):
    table = "walls_bare"
    made = (
        f"CREATE TABLE {table} (id uuid NOT NULL, tenant_id uuid NOT NULL, PRIMARY KEY (tenant_id, id));"
        f" {'; '.join(policy_statements(table))};"
        f' GRANT SELECT, DELETE ON {table} TO "{roles().app}"; GRANT SELECT ON {table} TO "{roles().admin}"'
    )
    with changed(made, f"DROP TABLE {table}"):
        done = run_self_test(caller=admin)
    tried = {one.how: one for one in done.attempts if one.target == table}
    assert {how for how, one in tried.items() if one.outcome == "refused"} == {UPDATE, INSERT, UNSCOPED}
    unproved = [tried[how] for how in (READ, DELETE, UNGUARDED)]
    assert {(one.outcome, one.by) for one in unproved} == {("unproved", NOBODY_HAS_ANY)}
    assert set(done.proving_nothing) == set(unproved)
    assert done.is_tight


def test_a_function_that_answers_for_all_tenants_is_seen(admin, rows_of):
    rows_of(EPISODES)
    name = "walls_find(wanted text)"
    body = f"SELECT id FROM {EPISODES} WHERE text LIKE wanted"
    makes = (
        f"CREATE FUNCTION {name} RETURNS SETOF uuid LANGUAGE sql SECURITY DEFINER AS $f$ {body} $f$;"
        f' GRANT EXECUTE ON FUNCTION walls_find(text) TO "{roles().app}"'
    )
    with changed(makes, "DROP FUNCTION walls_find(text)"):
        done = run_self_test(caller=admin)
    assert leaks(done) == {("Around the tables", "walls_find()", "ask it for another tenant's rows")}


def test_a_key_in_redis_that_leaves_the_tenant_out_is_seen(admin, monkeypatch):
    monkeypatch.setattr(keys, "tag", lambda ref: f"{{everybody//{ref.user_id}/{ref.session_id}}}")
    found = {(target, how) for door, target, how in leaks(run_self_test(caller=admin))}
    assert ("a session of our name", "read its data") in found
    assert ("a session of another name", "read its data") in found
    assert ("the data of a session of our name", "GET /working-memory/{session_id}") in found


def test_a_view_whose_function_forgets_the_tenant_is_seen_at_every_door_that_asks_it(admin, monkeypatch):
    monkeypatch.setattr("episodic.episodes._bound", lambda caller: Q())
    assert leaks(run_self_test(caller=admin)) == set()  # the policy stands behind it
    with open_policy(EPISODES):
        done = run_self_test(caller=admin)
    assert "an episode" in found_at(done, "Memories by id")
    assert "an episode" in found_at(done, "HTTP API")
    assert [one.verdict for one in done.doors if one.name == "HTTP API"] == ["leaked"]


def test_an_arm_of_recall_that_forgets_the_tenant_is_seen(admin, monkeypatch):
    def everybodys(*, tenant_id, user_id, limit):
        return list(Entity.objects.filter(user_id=user_id).values_list("value", flat=True)[:limit])

    monkeypatch.setattr("episodic.querysets.slot_values", everybodys)
    with open_policy(SLOTS):
        done = run_self_test(caller=admin)
    assert ("Recall", "slots", "by the names in the query") in leaks(done)


def test_an_export_that_forgets_the_tenant_is_seen(admin, monkeypatch):
    class Forgetful:
        def export(self, subject):
            with scope(subject.tenant_id):
                return [{"text": one.text} for one in Episode.objects.filter(user_id=subject.user_id)]

    monkeypatch.setitem(privacy._handlers, "episode", Forgetful())
    with open_policy(EPISODES):
        done = run_self_test(caller=admin)
    assert found_at(done, "A person's export") == {"episode"}


def test_a_tool_that_forgets_the_tenant_is_seen(admin, monkeypatch):
    def everybodys(*, caller, text, where, limit):
        with scope(caller.tenant_id):
            return [SearchHit(one, -1.0, "bm25") for one in Observation.objects.filter(project=where.project)]

    monkeypatch.setattr("api.mcp.memory.search_observations", everybodys)
    with open_policy(OBSERVATIONS):
        done = run_self_test(caller=admin)
    assert found_at(done, "MCP tools") == {"mem_search"}


def test_a_fault_is_no_refusal_and_hides_nothing_else(admin, monkeypatch):
    def broken(**_asked):
        raise RuntimeError("broken")

    monkeypatch.setattr("recall.walls.access_document", broken)
    done = run_self_test(caller=admin)
    (failed,) = [one for one in done.attempts if one.outcome == "unproved"]
    assert (failed.door, failed.target, failed.by) == ("Memories by id", "a document", "runtime error")
    assert done.is_tight


def test_without_the_embedding_model_what_finds_by_meaning_alone_is_not_proved(admin, monkeypatch):
    def away(*_args, **_kwargs):
        raise Unavailable("away")

    monkeypatch.setattr(stages, "embed_query", away)
    done = run_self_test(caller=admin)
    unproved = {(one.door, one.how) for one in done.attempts if one.outcome == "unproved"}
    assert ("Recall", "by meaning") in unproved
    assert ("Recall", "by words") not in unproved
    assert done.is_tight


def test_the_model_is_asked_once_and_outside_of_the_transaction(admin, monkeypatch):
    asked = []
    get_embedder = embedding.get_embedder
    monkeypatch.setattr(embedding, "get_embedder", lambda name: asked.append(name) or get_embedder(name))
    run_self_test(caller=admin)
    assert len(asked) == 1


def test_a_rehearsal_has_one_tenant_at_a_time_and_is_never_committed(tenants, admin):
    acme, globex = tenants
    text = uuid4().hex
    with rehearsal() as act_as:
        with pytest.raises(NoTenantScope):
            Episode.objects.count()
        with act_as(acme):
            Episode.objects.create(tenant_id=acme, text=text, created_at=timezone.now())
            assert Episode.objects.filter(text=text).count() == 1
            with pytest.raises(ForeignTenantScope), scope(globex):
                pass
        with act_as(globex), scope(globex):
            assert Episode.objects.filter(text=text).count() == 0
    with scope(acme):
        assert Episode.objects.filter(text=text).count() == 0
        with pytest.raises(ForeignTenantScope), rehearsal():
            pass


def test_only_an_admin_tries_the_walls(admin):
    for caller in (
        Caller(admin.tenant_id, "globex-walls", "k", frozenset({"read", "write", "privacy"})),
        Caller(admin.tenant_id, "globex-walls", "k", frozenset({"admin"}), user_id="ann"),
    ):
        with pytest.raises(Forbidden):
            run_self_test(caller=caller)
