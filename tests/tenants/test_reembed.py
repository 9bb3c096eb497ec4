"""`manage.py reembed`: from one embedding model to another, with nothing lost to search in between."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from episodic.entities import NewEntity, put_entity
from episodic.episodes import store_episode
from episodic.types import NewEpisode
from ledger.cases import NewQuery, add_query
from memoryproject.management.commands.reembed import Command
from tenants import changing
from tenants.models import AuditEntry, TenantEmbedding
from tenants.router import admin_role
from tenants.scope import scope
from tenants.vectors import kinds
from tests.conftest import make_member
from tests.isolation.tables import TENANT_MODELS
from tests.knowledge.shelf import ingest
from tests.observations.notes import embed, note
from tests.tenants.two_models import LOCAL, OTHER, both, found, reembed, vectors, work

GULLS = "Gulls nest on the lighthouse."


@pytest.fixture(autouse=True)
def provider(settings):
    settings.API_KEY_CACHE_SECONDS = 0  # a change need not settle before it is ended
    with both(settings) as running:
        yield running


def store(member, text=GULLS):
    new = NewEpisode(text=text, user_id="ann")
    return store_episode(caller=member.caller, new=new, now=timezone.now())


def one_of_each(member):
    """One item of every kind of vectors, read by the present model."""
    store(member)
    new = NewEntity(user_id="ann", key="pet", value="a gull")
    put_entity(caller=member.caller, new=new, now=timezone.now())
    note(member.caller, "The keeper feeds the gulls.")
    ingest(member.caller, "Gulls eat herring.")
    embed(member.caller)
    work()


def test_every_kind_of_vectors_is_known():
    """A table of vectors that is not registered would keep those of the old model alone."""
    with_model = {
        model
        for model in TENANT_MODELS
        if {"embedding", "model"} <= {field.attname for field in model._meta.concrete_fields}
    }
    assert {kind.vectors for kind in kinds().values()} == with_model
    assert all(kind.items._meta.get_field("embed_pending") for kind in kinds().values())
    assert all(kind.items._meta.get_field("created_at") for kind in kinds().values())


def test_the_whole_way_of_every_kind(acme):
    one_of_each(acme)
    assert f"{OTHER}: 0 of 4; missing: chunk 1, entity 1, episode 1, observation 1" in reembed(
        acme, "--begin"
    )
    assert [vectors(acme, name) for name in sorted(kinds())] == [{LOCAL: 1}] * 4
    work()
    assert f"{OTHER}: 4 of 4; missing: none; counts agree" in reembed(acme, "--status")
    assert [vectors(acme, name) for name in sorted(kinds())] == [{LOCAL: 1, OTHER: 1}] * 4
    assert f"goes by {OTHER}; {LOCAL}, the former one, is kept complete" in reembed(acme, "--switch")
    assert found(acme.caller, "gulls") == [GULLS]
    assert f"goes by {LOCAL} again" in reembed(acme, "--rollback")
    reembed(acme, "--switch")
    assert "4 vectors deleted" in reembed(acme, "--drop", LOCAL)
    assert [vectors(acme, name) for name in sorted(kinds())] == [{OTHER: 1}] * 4
    assert found(acme.caller, "gulls") == [GULLS]


def test_each_step_is_in_the_audit_log(acme):
    for step in (("--begin",), ("--switch",), ("--rollback",), ("--switch",), ("--drop", LOCAL)):
        reembed(acme, *step)
    with scope(acme.tenant.id):
        entries = AuditEntry.objects.filter(tenant_id=acme.tenant.id, action__startswith="embedding.")
        told = list(entries.order_by("id").values_list("action", "target", "actor"))
    assert told == [
        ("embedding.begin", LOCAL, "command:reembed"),
        ("embedding.switch", OTHER, "command:reembed"),
        ("embedding.rollback", LOCAL, "command:reembed"),
        ("embedding.switch", OTHER, "command:reembed"),
        ("embedding.end", OTHER, "command:reembed"),
    ]


def test_a_switch_is_refused_while_anything_is_missing(acme, provider):
    store(acme)
    reembed(acme, "--begin")
    provider.control(wrong=-1)
    with pytest.raises(CommandError, match="Not everything could be embedded"):
        reembed(acme, "--switch")
    assert found(acme.caller, "gulls") == [GULLS]
    assert vectors(acme) == {LOCAL: 1}


def test_a_switch_to_a_model_that_does_not_answer_is_refused(acme, provider):
    store(acme)
    reembed(acme, "--begin")
    work()
    provider.control(wrong=-1)
    with pytest.raises(CommandError, match="does not answer"):
        reembed(acme, "--switch")
    assert found(acme.caller, "gulls") == [GULLS]


def test_a_switch_has_read_first_what_was_written_last(acme):
    reembed(acme, "--begin")
    store(acme)
    reembed(acme, "--switch")
    assert vectors(acme) == {LOCAL: 1, OTHER: 1}
    assert found(acme.caller, "gulls") == [GULLS]


def test_there_is_nothing_to_switch_or_to_roll_back_without_a_change(acme):
    with pytest.raises(CommandError, match="no change to switch"):
        reembed(acme, "--switch")
    reembed(acme, "--begin")
    with pytest.raises(CommandError, match="Nothing was switched"):
        reembed(acme, "--rollback")
    reembed(acme, "--switch")
    with pytest.raises(CommandError, match="Switched already"):
        reembed(acme, "--switch")


def test_the_present_models_vectors_cannot_be_dropped(acme):
    with pytest.raises(CommandError, match="the present model"):
        reembed(acme, "--drop", LOCAL)


def test_a_change_that_is_given_up_leaves_nothing_behind(acme):
    store(acme)
    reembed(acme, "--begin")
    work()
    reembed(acme, "--drop", OTHER)
    assert vectors(acme) == {LOCAL: 1}
    assert f"goes by {LOCAL}\n" in reembed(acme, "--status")


def test_a_change_is_not_ended_while_processes_may_still_go_by_the_former_model(acme, settings):
    settings.API_KEY_CACHE_SECONDS = 5
    reembed(acme, "--begin")
    reembed(acme, "--switch")
    with pytest.raises(CommandError, match="may still go by"):
        reembed(acme, "--drop", LOCAL)


def test_what_would_be_lost_to_search_is_not_dropped(acme, provider, monkeypatch):
    reembed(acme, "--begin")
    reembed(acme, "--switch")
    reembed(acme, "--drop", LOCAL)
    store(acme)
    with scope(acme.tenant.id):  # a process that had not heard of the switch yet
        kinds()["episode"].vectors._default_manager.filter(tenant_id=acme.tenant.id).update(model=LOCAL)
    provider.control(wrong=-1)
    with pytest.raises(CommandError, match="could be embedded"):
        reembed(acme, "--drop", LOCAL)
    with monkeypatch.context() as late:
        late.setattr(changing, "_catch_up", lambda tenant_id: None)  # written after it
        with pytest.raises(CommandError, match="they would be lost to search"):
            reembed(acme, "--drop", LOCAL)
    provider.control(wrong=0)
    assert "1 vectors deleted" in reembed(acme, "--drop", LOCAL)
    assert vectors(acme) == {OTHER: 1}


def test_one_tenants_change_is_no_other_tenants(acme, globex):
    for member in (acme, globex):
        store(member)
    reembed(acme, "--begin")
    work()
    reembed(acme, "--switch")
    assert (vectors(acme), vectors(globex)) == ({LOCAL: 1, OTHER: 1}, {LOCAL: 1})
    assert f"goes by {LOCAL}" in reembed(globex, "--status")
    store(globex, "Herring.")
    assert (found(acme.caller, "gulls"), vectors(globex)) == ([GULLS], {LOCAL: 2})
    reembed(acme, "--drop", LOCAL)
    assert vectors(globex) == {LOCAL: 2}


def test_a_new_tenant_goes_by_the_deployments_model_also_while_two_are_set_up(acme, globex):
    reembed(acme, "--begin")
    reembed(acme, "--switch")
    assert f"goes by {LOCAL}" in reembed(globex, "--status")
    with scope(globex.tenant.id):
        assert not TenantEmbedding.objects.filter(tenant_id=globex.tenant.id).exists()


def test_begun_twice_there_is_nothing_more_to_do(acme):
    store(acme)
    reembed(acme, "--begin")
    work()
    assert "missing: none" in reembed(acme, "--begin")
    work()
    assert vectors(acme) == {LOCAL: 1, OTHER: 1}


def test_a_second_change_waits_for_the_end_of_the_first(acme, settings):
    reembed(acme, "--begin")
    with pytest.raises(CommandError, match="No provider is set up"):
        reembed(acme, "--begin", "--to", "another")


def test_a_changed_setting_has_the_rest_read_by_the_new_model(acme, settings):
    """Without a change: the deployment's model is another since the last start."""
    store(acme)
    with scope(acme.tenant.id):
        kinds()["episode"].vectors._default_manager.filter(tenant_id=acme.tenant.id).update(model="former")
    assert f"{LOCAL}: 0 of 1; missing: episode 1" in reembed(acme, "--begin", "--to", LOCAL)
    work()
    assert vectors(acme) == {"former": 1, LOCAL: 1}


def test_both_models_are_compared_on_the_saved_queries(acme, tmp_path):
    gulls, herring = store(acme), store(acme, "Herring is a fish that many people like to eat.")
    for text, relevant in (("gulls", [gulls.id]), ("food from the sea", [herring.id]), ("ships", [])):
        new = NewQuery(text=text, user_id="ann", relevant=tuple(relevant))
        add_query(caller=acme.caller, new=new, now=timezone.now())
    with pytest.raises(CommandError, match="nothing to compare"):
        reembed(acme, "--report")
    reembed(acme, "--begin")
    work()
    path = tmp_path / "report.json"
    shown = reembed(acme, "--report", "--json", str(path))
    assert "3 saved queries, 2 of them labelled" in shown
    assert f"| {OTHER} | 1.000 |" in shown
    (report,) = json.loads(path.read_text()).values()
    assert set(report["models"]) == {LOCAL, OTHER}
    assert [set(one["answers"]) for one in report["asked"]] == [{LOCAL, OTHER}] * 3
    assert report["models"][LOCAL] | {"p50_ms": 0} == {
        "recall@10": 1.0, "mrr": 1.0, "p50_ms": 0, "by_words": 0
    }  # fmt: skip
    assert "gulls" not in path.read_text()


def test_the_report_says_which_answers_words_alone_brought(acme, provider):
    store(acme)
    new = NewQuery(text="gulls", user_id="ann")
    add_query(caller=acme.caller, new=new, now=timezone.now())
    reembed(acme, "--begin")
    work()
    provider.control(wrong=-1)
    line = next(one for one in reembed(acme, "--report").splitlines() if one.startswith(f"| {OTHER} "))
    assert line.endswith("| 1 |")


def test_without_a_step_the_status_is_told_and_nothing_begun(acme, provider):
    store(acme)
    assert reembed(acme) == reembed(acme, "--status")
    work()
    assert (vectors(acme), provider.requests) == ({LOCAL: 1}, [])
    with scope(acme.tenant.id):
        assert not TenantEmbedding.objects.filter(tenant_id=acme.tenant.id).exists()


@pytest.mark.parametrize("options", [("--to", OTHER), ("--kind", "episode"), ("--json", "x")])
def test_an_option_without_its_step_is_refused(acme, options):
    with pytest.raises(CommandError, match=f"{options[0]} is for"):
        reembed(acme, *options)


def of_all(monkeypatch, members, *options):
    """The command without `--tenant`, where there are these tenants alone."""
    monkeypatch.setattr(Command, "_tenants", lambda self, slug: [one.tenant for one in members])
    out = StringIO()
    call_command("reembed", *options, stdout=out, stderr=StringIO())
    return [line for line in out.getvalue().splitlines() if " now" in line or " again" in line]


def rows_of(members):
    with admin_role():
        found = TenantEmbedding.objects.filter(tenant__in=[one.tenant.id for one in members])
        return {row.tenant_id: (row.model, row.other, row.changed_at) for row in found}


def test_without_a_tenant_those_that_are_ready_are_switched_and_no_others(acme, globex, server, monkeypatch):
    idle, done = make_member("idle", server), make_member("done", server)
    members = [acme, globex, idle, done]
    for member in (acme, globex, done):
        reembed(member, "--begin")
    reembed(done, "--switch")
    store(globex)
    monkeypatch.setattr(changing, "MOST_LATE", 0)
    before = rows_of(members)
    with monkeypatch.context() as patch, pytest.raises(CommandError) as refused:
        of_all(patch, members, "--switch")
    assert str(refused.value) == f"{globex.tenant.slug}: 1 items have no vector by {OTHER} yet."
    after = rows_of(members)
    assert {one for one in after if after[one] != before[one]} == {acme.tenant.id}
    assert after[acme.tenant.id][:2] == (OTHER, LOCAL)
    assert of_all(monkeypatch, [acme, idle, done], "--switch") == [], "a second one changes nothing"
    assert rows_of(members) == after
    told = of_all(monkeypatch, members, "--rollback")
    assert told == [f"{one.tenant.slug}: goes by {LOCAL} again" for one in (acme, done)]
    assert {one[0] for one in rows_of(members).values()} == {LOCAL}
    assert idle.tenant.id not in rows_of(members)


def test_an_unknown_tenant_is_refused():
    with pytest.raises(CommandError, match="no tenant 'nobody'"):
        call_command("reembed", "--tenant", "nobody", stdout=StringIO())
