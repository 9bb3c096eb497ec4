"""Writing a policy: checked, versioned, audited, and by one writer at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import ProgrammingError, connections

from tenants.errors import Conflict, Invalid, NotFound, PreconditionFailed
from tenants.models import AuditEntry, PolicyVersion
from tenants.policy import versions
from tenants.policy.document import Policy
from tenants.policy.versions import (
    Level,
    diff_versions,
    list_versions,
    read_level,
    rollback_policy,
    write_policy,
)
from tenants.scope import scope


@pytest.fixture
def tenant(acme_tenant) -> Level:
    return Level(acme_tenant.id)


@pytest.fixture
def agent(acme_tenant) -> Level:
    return Level(acme_tenant.id, "coder")


def write(level, changes, **options):
    return write_policy(level=level, actor="test", changes=changes, **options)


def refused(level, changes) -> str:
    """The field that is named; nothing may have been written."""
    before = read_level(level=level)
    with pytest.raises(Invalid) as caught:
        write(level, changes)
    assert read_level(level=level) == before
    return caught.value.field


def entries(level) -> list[AuditEntry]:
    with scope(level.tenant_id):
        found = AuditEntry.objects.filter(tenant_id=level.tenant_id, action__startswith="policy.")
        return list(found.order_by("at", "id"))


def test_a_level_begins_empty_with_the_deployment_s_defaults(tenant, settings):
    found = read_level(level=tenant)
    assert (found.version, found.document) == (0, {})
    assert found.effective == found.defaults
    assert found.effective.working.turns == settings.WORKING_MEMORY_TURNS == 6
    assert found.effective.retention.episodes_days == settings.EPISODIC_RETENTION_DAYS == 90
    assert found.effective.retention.events_days == settings.EVENT_RETENTION_DAYS == 30
    assert found.effective.entities.min_confidence == settings.ENTITY_CONFIDENCE_MIN == 0.75
    recall = found.effective.recall
    assert (recall.alpha, recall.decay, recall.top_k, recall.entity_boost) == (0.75, 0.08, 5, 0.2)
    assert found.effective.session.idle_seconds == 1_800


def test_only_what_differs_is_kept(tenant):
    written = write(tenant, {"recall": {"top_k": 8}})
    assert (written.version, written.document) == (1, {"recall": {"top_k": 8}})
    assert written.effective.recall.top_k == 8
    assert written.defaults.recall.top_k == 5
    assert read_level(level=tenant) == written


def test_an_agent_s_level_stands_on_its_tenant_s(tenant, agent):
    write(tenant, {"recall": {"top_k": 8}, "working": {"turns": 4}})
    found = write(agent, {"recall": {"top_k": 3}})
    assert (found.effective.recall.top_k, found.effective.working.turns) == (3, 4)
    assert found.defaults.recall.top_k == 8
    assert read_level(level=tenant).effective.recall.top_k == 8
    assert (found.version, read_level(level=tenant).version) == (1, 1)


def test_changes_are_merged_and_null_gives_a_field_or_section_back(tenant):
    write(tenant, {"working": {"turns": 8, "max_tool_result_chars": 9}, "recall": {"top_k": 4}})
    assert write(tenant, {"working": {"turns": None}}).document == {
        "working": {"max_tool_result_chars": 9},
        "recall": {"top_k": 4},
    }
    assert write(tenant, {"working": None}).document == {"recall": {"top_k": 4}}
    empty = write(tenant, {"recall": {"top_k": None}})
    assert (empty.version, empty.document) == (4, {})
    assert empty.effective == empty.defaults


@pytest.mark.parametrize(("changes", "field"), [
    ({"recal": {"top_k": 8}}, "recal"),
    ({"recal": {}}, "recal"),
    ({"recal": None}, "recal"),
    ({"recall": {"topk": 8}}, "recall.topk"),
    ({"recall": {"topk": None}}, "recall.topk"),
    ({"recall": {"top_k": 0}}, "recall.top_k"),
    ({"recall": {"top_k": 201}}, "recall.top_k"),
    ({"recall": {"top_k": "8"}}, "recall.top_k"),
    ({"recall": {"top_k": True}}, "recall.top_k"),
    ({"recall": {"top_k": 2.5}}, "recall.top_k"),
    ({"recall": {"top_k": {}}}, "recall.top_k"),
    ({"recall": {"top_k": [8]}}, "recall.top_k"),
    ({"recall": {"top_k": 10**400}}, "recall.top_k"),
    ({"recall": {"alpha": 1.01}}, "recall.alpha"),
    ({"recall": {"alpha": float("nan")}}, "recall.alpha"),
    ({"recall": []}, "recall"),
    ({"recall": 3}, "recall"),
    ({"retention": {"episodes_days": 29}}, "retention.episodes_days"),
    ({"retention": {"episodes_days": 366}}, "retention.episodes_days"),
    ({"session": {"ttl_seconds": 72 * 3_600 + 1}}, "session.ttl_seconds"),
    ({"write": {"entities": "always"}}, "write.entities"),
    ({"sensitive": {"cards": "ignore"}}, "sensitive.cards"),
    ({"entities": {"allowed_keys": ["name", ""]}}, "entities.allowed_keys.1"),
    ({"entities": {"allowed_keys": "name"}}, "entities.allowed_keys"),
])  # fmt: skip
def test_what_is_not_valid_is_refused_by_name(tenant, changes, field):
    assert refused(tenant, changes) == f"document.{field}"
    assert entries(tenant) == []


def test_the_whole_range_of_alpha_is_valid():
    for number in (0, 1):
        assert Policy.model_validate({"recall": {"alpha": number}}).recall.alpha == number


@pytest.mark.parametrize(("field", "setting"), [
    ("session.max_age_seconds", "SESSION_MAX_AGE_SECONDS"),
    ("limits.working_memory_bytes", "WORKING_MEMORY_MAX_BYTES"),
])  # fmt: skip
def test_no_tenant_or_agent_exceeds_what_the_deployment_allows(tenant, agent, settings, field, setting):
    section, name = field.split(".")
    ceiling = getattr(settings, setting)
    for level in (tenant, agent):
        assert refused(level, {section: {name: ceiling + 1}}) == f"document.{field}"
        write(level, {section: {name: ceiling}})


@pytest.mark.parametrize(("changes", "field"), [
    ({"session": {"ttl_seconds": 90_000, "max_age_seconds": 86_400}}, "session.ttl_seconds"),
    ({"session": {"max_age_seconds": 3_600}}, "session.max_age_seconds"),
    ({"session": {"idle_seconds": 90_000}}, "session.idle_seconds"),
    ({"session": {"ttl_seconds": 900}}, "session.ttl_seconds"),
    ({"summary": {"on_end": False, "on_idle": False}}, "summary.on_end"),
])  # fmt: skip
def test_fields_that_contradict_each_other_are_refused(tenant, changes, field):
    assert refused(tenant, changes) == f"document.{field}"


def test_an_agent_s_fields_may_not_contradict_its_tenant_s(tenant, agent):
    write(tenant, {"summary": {"on_end": False}})
    assert refused(agent, {"summary": {"on_idle": False}}) == "document.summary.on_idle"
    write(agent, {"summary": {"on_idle": False, "on_end": True}})


def test_a_contradiction_among_the_deployment_s_own_settings_is_not_the_tenant_s(tenant, settings):
    settings.SESSION_MAX_AGE_SECONDS = 3_600
    write(tenant, {"recall": {"top_k": 8}})
    assert refused(tenant, {"session": {"ttl_seconds": 7_200}}) == "document.session.ttl_seconds"


def test_another_version_than_the_expected_is_a_conflict(tenant):
    write(tenant, {"recall": {"top_k": 8}}, expected_version=0)
    for wrong in (0, 2, 99):
        with pytest.raises(Conflict, match="newest version is 1"):
            write(tenant, {"recall": {"top_k": 9}}, expected_version=wrong)
    with pytest.raises(PreconditionFailed, match="newest version is 1"):
        write(tenant, {"recall": {"top_k": 9}}, match_versions={0})
    assert write(tenant, {"recall": {"top_k": 9}}, expected_version=1, match_versions={0, 1}).version == 2


def test_of_writers_at_the_same_time_exactly_one_wins(tenant, monkeypatch):
    """All have read version 0 before any writes: PostgreSQL decides, and the losers leave nothing."""
    count = 6
    barrier, bound = threading.Barrier(count), versions._bound_agents

    def wait(current):
        barrier.wait(10)
        bound(current)

    monkeypatch.setattr(versions, "_bound_agents", wait)

    def attempt(number):
        try:
            return write(tenant, {"recall": {"top_k": number + 10}}, expected_version=0)
        except Conflict:
            return None
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        results = list(pool.map(attempt, range(count)))
    (winner,) = [one for one in results if one is not None]
    assert read_level(level=tenant) == winner
    assert [one.version for one in list_versions(level=tenant, limit=10)] == [1]
    assert len(entries(tenant)) == 1


def test_writers_that_expect_nothing_lose_no_change_of_each_other(tenant):
    fields = ["turns", "max_tool_result_chars", "include_summary_after_turn"]

    def attempt(field):
        try:
            for _ in range(50):
                try:
                    return write(tenant, {"working": {field: 1}})
                except Conflict:
                    continue
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(attempt, fields))
    found = read_level(level=tenant)
    assert (found.version, found.document) == (3, {"working": dict.fromkeys(fields, 1)})


def test_without_a_difference_there_is_no_version(tenant):
    write(tenant, {"recall": {"top_k": 8}})
    assert write(tenant, {"recall": {"top_k": 8}, "working": {"turns": None}}).version == 1
    assert len(entries(tenant)) == 1


def test_every_version_is_audited_with_its_difference_author_and_note(tenant, agent):
    write(tenant, {"recall": {"top_k": 8}}, note="more to read")
    write(agent, {"recall": {"top_k": 2}})
    first, second = entries(tenant)
    assert (first.actor, first.action, first.target) == ("test", "policy.write", "tenant")
    assert first.details == {
        "version": 1,
        "changes": [{"field": "recall.top_k", "before": None, "after": 8}],
    }
    assert second.target == "coder"
    (version,) = list_versions(level=tenant, limit=5)
    assert (version.author, version.note) == ("test", "more to read")


def test_a_version_can_be_neither_changed_nor_removed(tenant):
    write(tenant, {"recall": {"top_k": 8}})
    for change in (lambda rows: rows.update(document={}), lambda rows: rows.delete()):
        with pytest.raises(ProgrammingError, match="permission denied"), scope(tenant.tenant_id):
            change(PolicyVersion.objects.filter(tenant_id=tenant.tenant_id))


def test_a_rollback_is_a_new_version_with_the_old_document(tenant):
    write(tenant, {"recall": {"top_k": 8}})
    write(tenant, {"recall": {"top_k": 9}, "working": {"turns": 2}})
    back = rollback_policy(level=tenant, actor="test", to_version=1)
    assert (back.version, back.document) == (3, {"recall": {"top_k": 8}})
    empty = rollback_policy(level=tenant, actor="test", to_version=0, expected_version=3)
    assert (empty.version, empty.document) == (4, {})
    assert [one.version for one in list_versions(level=tenant, limit=3)] == [4, 3, 2]
    assert [one.version for one in list_versions(level=tenant, limit=3, before=3)] == [2, 1]
    assert entries(tenant)[-1].action == "policy.rollback"
    assert list_versions(level=tenant, limit=1)[0].note == "rollback to version 0"


def test_a_rollback_is_checked_like_a_write(tenant, settings):
    with pytest.raises(NotFound):
        rollback_policy(level=tenant, actor="test", to_version=1)
    write(tenant, {"session": {"max_age_seconds": 500_000}})
    write(tenant, {"session": None})
    with pytest.raises(Conflict):
        rollback_policy(level=tenant, actor="test", to_version=1, expected_version=1)
    settings.SESSION_MAX_AGE_SECONDS = 400_000
    with pytest.raises(Invalid, match="400000"):
        rollback_policy(level=tenant, actor="test", to_version=1)


def test_two_versions_are_compared_field_by_field(tenant):
    assert diff_versions(level=tenant) == (0, 0, [])
    write(tenant, {"recall": {"top_k": 8}})
    write(tenant, {"recall": {"top_k": 9}, "working": {"turns": 2}})
    write(tenant, {"recall": None})
    before, after, found = diff_versions(level=tenant, from_version=1, to_version=2)
    assert (before, after) == (1, 2)
    assert [(one.field, one.before, one.after) for one in found] == [
        ("recall.top_k", 8, 9),
        ("working.turns", None, 2),
    ]
    _before, _after, newest = diff_versions(level=tenant)
    assert [(one.field, one.before, one.after) for one in newest] == [("recall.top_k", 9, None)]
    with pytest.raises(NotFound):
        diff_versions(level=tenant, from_version=1, to_version=4)


def test_so_many_agents_have_a_policy_of_their_own_and_no_more(tenant, monkeypatch):
    monkeypatch.setattr(versions, "MOST_AGENTS", 2)
    for name in ("one", "two"):
        write(Level(tenant.tenant_id, name), {"recall": {"top_k": 8}})
    with pytest.raises(Conflict, match="no more"):
        write(Level(tenant.tenant_id, "three"), {"recall": {"top_k": 8}})
    write(Level(tenant.tenant_id, "two"), {"recall": {"top_k": 9}})
    write(tenant, {"recall": {"top_k": 8}})


def test_globex_neither_reads_nor_changes_what_acme_decides(tenant, globex_tenant):
    write(tenant, {"recall": {"top_k": 8}})
    theirs = Level(globex_tenant.id)
    assert read_level(level=theirs).document == {}
    write(theirs, {"recall": {"top_k": 9}}, expected_version=0)
    assert read_level(level=tenant).document == {"recall": {"top_k": 8}}
    assert [one.document for one in list_versions(level=theirs, limit=9)] == [{"recall": {"top_k": 9}}]
