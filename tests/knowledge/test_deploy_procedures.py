"""Deploying: versions that never change, which of them an environment runs, and the way back."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError
from django.utils import timezone

from knowledge.deploying import deploy_procedures, deploy_version, rollback_procedure
from knowledge.models import Deployment, Procedure
from knowledge.procedure_files import read_procedure
from knowledge.procedures import access_procedure, list_procedures, procedures_for
from tenants.errors import Conflict, Invalid, NotFound
from tenants.models import AuditEntry
from tenants.scope import scope
from tests.working.conversation import at_once

PRODUCTION = "production"


def text(body: str, name: str = "greeting", **front: str):
    above = "".join(f"{key}: {value}\n" for key, value in front.items())
    return read_procedure(f"---\n{above}---\n{body}".encode(), origin=f"{name}.md")


def deploy(caller, *texts, environment=PRODUCTION, **more):
    more.setdefault("now", timezone.now())
    return deploy_procedures(
        tenant_id=caller.tenant_id, environment=environment, texts=texts, actor="test", **more
    )


def running(caller, name="greeting", environment=None):
    return access_procedure(caller=caller, name=name, environment=environment).version


def entries(caller, action: str) -> list[AuditEntry]:
    with scope(caller.tenant_id):
        return list(AuditEntry.objects.filter(action=action).order_by("id"))


def test_a_deployed_version_is_what_the_environment_runs(caller):
    (one,) = deploy(caller, text("Hello.", version="1"))
    assert (one.outcome, one.before) == ("created", "")
    found = access_procedure(caller=caller, name="greeting")
    assert (found.body, found.version, found.created_by) == ("Hello.", "1", "test")
    assert (found.deployment.environment, found.deployment.deployed_by) == (PRODUCTION, "test")
    (again,) = deploy(caller, text("Hello.", version="1"))
    assert again.outcome == "unchanged"
    (second,) = deploy(caller, text("Hi.", version="2"))
    assert (second.outcome, second.before, running(caller)) == ("created", "1", "2")
    assert access_procedure(caller=caller, name="greeting", version="1").body == "Hello."
    assert access_procedure(caller=caller, name="greeting", version="1").deployment is None


def test_a_version_is_never_changed(caller):
    deploy(caller, text("Hello.", version="1", owner="ann"))
    for changed in (text("Bye.", version="1", owner="ann"), text("Hello.", version="1", owner="bob")):
        with pytest.raises(Conflict, match=r"greeting 1 is there already with another (text|metadata)"):
            deploy(caller, text("New.", name="other"), changed)
    assert [one.name for one in list_procedures(caller=caller)] == ["greeting"], "all or none"
    assert running(caller) == "1"


def test_environments_run_versions_of_their_own(caller):
    deploy(caller, text("Hello.", version="1"))
    deploy(caller, text("Hi.", version="2"), environment="staging")
    assert (running(caller), running(caller, environment="staging")) == ("1", "2")
    (promoted,) = deploy(caller, text("Hi.", version="2"))
    assert (promoted.outcome, running(caller)) == ("deployed", "2")
    with pytest.raises(NotFound):
        access_procedure(caller=caller, name="greeting", version="1", environment="staging")
    assert access_procedure(caller=caller, name="greeting", version="2", environment="staging").body == "Hi."


def test_a_dry_run_tells_and_does_nothing(caller):
    (plan,) = deploy(caller, text("Hello.", version="1"), dry_run=True)
    assert plan.outcome == "created"
    assert list_procedures(caller=caller) == []
    assert entries(caller, "procedure.deploy") == []


def test_a_name_that_stands_twice_is_refused(caller):
    with pytest.raises(Invalid, match=r"stands twice: greeting\.md, greeting\.md"):
        deploy(caller, text("a"), text("b"))


def test_rolling_back_runs_the_version_before_and_keeps_the_history(caller):
    for version in ("1", "2", "3"):
        deploy(caller, text(f"Hello {version}.", version=version))

    def back(**more):
        return rollback_procedure(
            tenant_id=caller.tenant_id, environment=PRODUCTION, name="greeting", actor="test",
            now=timezone.now(), **more,
        )  # fmt: skip

    done = back()
    assert (done.before, done.procedure.version, running(caller)) == ("3", "2", "2")
    assert back(to="1").procedure.version == running(caller) == "1"
    assert back(to="1").outcome == "unchanged"
    with scope(caller.tenant_id):
        assert Deployment.objects.count() == 5
    for wrong in ({"to": "9"},):
        with pytest.raises(NotFound, match="no version 9"):
            back(**wrong)
    assert len(entries(caller, "procedure.deploy")) == 5


def test_there_must_be_something_to_roll_back_to(caller):
    deploy(caller, text("Hello.", version="1"))
    for name, environment in (("greeting", PRODUCTION), ("nothing", PRODUCTION), ("greeting", "staging")):
        with pytest.raises(NotFound):
            rollback_procedure(
                tenant_id=caller.tenant_id,
                environment=environment,
                name=name,
                actor="test",
                now=timezone.now(),
            )


def test_the_newest_deployment_counts_although_the_clock_went_back(caller):
    deploy(caller, text("a", version="1"))
    deploy(caller, text("b", version="2"), now=timezone.now() - timedelta(hours=1))
    assert running(caller) == "2"


def test_two_who_deploy_at_once_come_one_after_the_other(caller):
    at_once(*(lambda n=n: deploy(caller, text("Hello.", version=str(n % 2))) for n in range(6)))
    with scope(caller.tenant_id):
        assert Procedure.objects.count() == 2


def test_who_deployed_what_is_in_the_audit_log(caller):
    deploy(caller, text("Hello.", version="1"))
    (made,), (done,) = entries(caller, "procedure.create"), entries(caller, "procedure.deploy")
    assert (made.actor, made.target, made.details["version"]) == ("test", "greeting", "1")
    assert (done.details["environment"], done.details["before"]) == (PRODUCTION, "")
    assert "Hello" not in str(made.details)


def test_those_for_an_agent_are_those_that_name_it_or_every_agent(caller):
    deploy(
        caller,
        text("a", name="a", agents="[billing, support]"),
        text("b", name="b", agents="'*'"),
        text("c", name="c"),
    )
    names = {
        agent: [one.name for one in procedures_for(caller=caller, agent_id=agent)]
        for agent in ("billing", "other", "")
    }
    assert names == {"billing": ["a", "b"], "other": ["b"], "": ["b"]}
    assert procedures_for(caller=caller, agent_id="billing", environment="staging") == []


def test_globex_reads_nothing_of_acme_s(acme, globex):
    deploy(acme.caller, text("Hello.", version="1"))
    assert list_procedures(caller=globex.caller) == []
    with pytest.raises(NotFound):
        access_procedure(caller=globex.caller, name="greeting", version="1")


def test_the_role_that_serves_agents_cannot_write_procedures(caller):
    deploy(caller, text("Hello.", version="1"))
    for write in (
        lambda: Procedure.objects.update(body="Obey me."),
        lambda: Procedure.objects.all().delete(),
        lambda: Deployment.objects.all().delete(),
        lambda: Procedure.objects.create(
            tenant_id=caller.tenant_id, name="x", version="1", body="x", checksum="x", created_by="x",
            created_at=timezone.now(),
        ),
    ):  # fmt: skip
        with pytest.raises(DatabaseError, match="permission denied"), scope(caller.tenant_id):
            write()


def test_a_version_that_is_there_can_be_deployed_elsewhere(caller):
    (one,) = deploy(caller, text("Hello.", version="1"))
    done = deploy_version(
        procedure=one.procedure, environment="staging", actor="admin:ann", now=timezone.now()
    )
    assert (done.outcome, running(caller, environment="staging")) == ("deployed", "1")


# ── the command ──────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "greeting.md").write_text("---\nversion: 1\n---\nHello.")
    (tmp_path / "deep" / "refunds.txt").write_text("Give it back.")
    (tmp_path / "image.png").write_text("no procedure")
    (tmp_path / ".git" / "notes.md").write_text("no procedure")
    return tmp_path


def run(caller, *args: object, **options: object) -> None:
    call_command("deploy_procedures", *map(str, args), tenant=caller.tenant, **options)


def test_the_command_deploys_a_folder_and_rolls_back(caller, folder, capsys):
    run(caller, folder, dry_run=True)
    assert "2 of 2 procedures would be deployed to production." in capsys.readouterr().out
    run(caller, folder)
    told = capsys.readouterr().out
    assert "greeting 1 created" in told
    assert "2 of 2 procedures deployed to production." in told
    run(caller, folder)
    assert "0 of 2 procedures deployed" in capsys.readouterr().out
    (folder / "greeting.md").write_text("---\nversion: 2\n---\nHi.")
    run(caller, folder)
    assert "greeting 1 -> 2 created" in capsys.readouterr().out
    run(caller, rollback="greeting")
    assert "greeting 2 -> 1 deployed" in capsys.readouterr().out
    run(caller, rollback="greeting", to="2")
    assert running(caller) == "2"
    assert {entry.actor for entry in entries(caller, "procedure.deploy")} == {"command:deploy_procedures"}


def test_the_command_says_what_is_wrong(caller, folder, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty")
    run(caller, folder)
    (folder / "greeting.md").write_text("---\nversion: 1\n---\nSomething else.")
    for args, options, told in (
        ((folder,), {}, "greeting 1 is there already"),
        ((folder / "nowhere",), {}, "is no folder"),
        ((empty,), {}, "There is no .md or .txt file"),
        ((), {}, "Name a folder"),
        ((folder,), {"rollback": "greeting"}, "Name a folder"),
        ((), {"rollback": "nothing"}, "runs no procedure named nothing"),
        ((), {"rollback": "greeting", "dry_run": True}, "--dry-run"),
        ((folder,), {"environment": " "}, "An environment has a name"),
    ):
        with pytest.raises(CommandError, match=told):
            run(caller, *args, **options)
    with pytest.raises(CommandError, match="There is no tenant"):
        call_command("deploy_procedures", str(folder), tenant="nobody")
