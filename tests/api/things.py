"""What calls work on: jobs, exports, observations, slots, documents, saved queries, procedures."""

import secrets
from urllib.parse import quote
from uuid import UUID

from django.utils import timezone

from episodic.entities import NewEntity, put_entity
from episodic.episodes import build_episode
from episodic.models import Episode
from episodic.records import save_records
from episodic.summary_views import NewView, create_view
from episodic.types import NewEpisode, NewRecord
from knowledge.deploying import deploy_procedures
from knowledge.ingesting import ingest_document
from knowledge.procedure_files import read_procedure
from knowledge.types import NewDocument
from ledger.cases import NewQuery, add_query
from ledger.decisions import Refused, note_decision
from observations.saving import save_observation
from observations.types import NewObservation
from recall.holding import hold_entity
from recall.summary_views import run_view
from tenants.agents.projects import bound_project
from tenants.agents.reading import forget
from tenants.models import ExportChunk, Job
from tenants.scope import scope
from tests.conftest import Member
from webhooks.models import Delivery, Webhook


def dead_letter(member: Member) -> UUID:
    """A failed job that the member's key has asked for."""
    now, caller = timezone.now(), member.caller
    with scope(member.tenant.id):
        job = Job.objects.create(
            tenant_id=member.tenant.id,
            kind="test.dead",
            state="failed",
            user_id=caller.user_id,
            requested_by=caller.principal,
            run_at=now,
            created_at=now,
            max_attempts=1,
        )
    return job.id


def finished_export(member: Member) -> UUID:
    """An export that is done."""
    job_id = dead_letter(member)
    with scope(member.tenant.id):
        Job.objects.filter(id=job_id).update(kind="subject.export", state="done")
        ExportChunk.objects.create(tenant_id=member.tenant.id, job_id=job_id, number=0, data=b"file")
    return job_id


def noted(member: Member) -> int:
    """An observation within the reach of the member's key."""
    text = secrets.token_hex(8)
    new = NewObservation(
        session_id=text,
        type="decision",
        title="Nothing",
        content=text,
        project="" if bound_project(member.caller) else "apollo",
    )
    return save_observation(caller=member.caller, new=new, now=timezone.now()).observation.id


def slot(member: Member, *, waits: bool) -> str:
    """A slot within the reach of the member's key, as a path names it; or one with a value that waits."""
    text = secrets.token_hex(8)
    user = member.caller.user_id or text
    new = NewEntity(user_id=user, key="email" if waits else text, value=text, extracted=waits)
    written = put_entity(caller=member.caller, new=new, now=timezone.now()).entity
    assert written is not None
    return f"{quote(user, safe='')}/{written.key}"


def held(member: Member) -> UUID:
    """A write that is held, within the reach of the member's key."""
    text, caller = secrets.token_hex(8), member.caller
    new = NewEntity(user_id=caller.user_id or text, key=text, value=text)
    refused = Refused("entity", "blocklist", text, held=hold_entity(new), outcome="held")
    with scope(member.tenant.id):
        return note_decision(
            caller=caller,
            session_id="s",
            user_id=caller.user_id or text,
            agent_id=caller.agent_id,
            project=caller.project,
            refused=refused,
            now=timezone.now(),
        ).id


def merged(member: Member) -> UUID:
    """A record within the reach of the member's key that was made of two."""
    text = f"Ana's locker is number {secrets.randbelow(10**9)}"
    told = [f"{text}.", f"{text}, beside the door."]
    saved = save_records(
        caller=member.caller,
        records=[NewRecord(id=None, text=one, user_id=member.caller.user_id or "someone") for one in told],
        deduplicate=True,
        now=timezone.now(),
    )
    assert saved.records[-1].outcome == "merged"
    return saved.records[-1].episode.id


def remembered(member: Member, user_id: str | None = None) -> UUID:
    """An episode within the reach of the member's key. Without a vector: nobody searches for it."""
    caller, now = member.caller, timezone.now()
    new = NewEpisode(text=secrets.token_hex(8), user_id=user_id)
    episode = build_episode(caller=caller, new=new, now=now)
    episode.embed_pending = False
    with scope(member.tenant.id):
        episode.save(force_insert=True)
    return episode.id


def ingested(member: Member) -> UUID:
    """A document of the member's key's own."""
    # The server may have been told of the agent just now.
    forget(member.tenant.id, name=member.caller.agent_id, projects=())
    new = NewDocument(data=secrets.token_hex(8).encode(), title="Nothing")
    return ingest_document(caller=member.caller, new=new, now=timezone.now()).shown.document.id


def recorded(member: Member, name: str = "") -> str:
    """The id that a client gave a record within the reach of the member's key."""
    name, now = name or secrets.token_hex(8), timezone.now()
    episode = build_episode(caller=member.caller, new=NewEpisode(text=name), now=now)
    episode.external_id, episode.embed_pending = name, False
    same = {"external_id": name, "user_id": episode.user_id, "tenant_id": member.tenant.id}
    with scope(member.tenant.id):
        if not Episode.objects.filter(**same).exists():
            episode.save(force_insert=True)
    return name


def viewed(member: Member) -> UUID:
    """A summary view within the reach of the member's key."""
    new = NewView(group_by=("namespace",))
    return create_view(caller=member.caller, new=new, now=timezone.now()).id


def tasked(member: Member) -> str:
    """The id of a run of one."""
    view_id, now = str(viewed(member)), timezone.now()
    task = run_view(caller=member.caller, view_id=view_id, force=False, task_id=None, now=now)
    return task.run.task_id


def asked(member: Member) -> UUID:
    """A saved query within the reach of the member's key."""
    caller = member.caller
    new = NewQuery(
        text="sesame",
        user_id=caller.user_id or "someone",
        agent_id=caller.agent_id,
        project=caller.project,
    )
    return add_query(caller=caller, new=new, now=timezone.now()).id


def deployed(member: Member) -> str:
    """The name of a procedure that the default environment runs."""
    text = read_procedure(b"Be kind.", origin=f"{secrets.token_hex(8)}.md")
    deploy_procedures(
        tenant_id=member.tenant.id, environment="production", texts=[text], actor="test", now=timezone.now()
    )
    return text.name


def hooked(member: Member) -> UUID:
    """A webhook that is told nothing, and would not be reached."""
    now = timezone.now()
    with scope(member.tenant.id):
        return Webhook.objects.create(
            tenant_id=member.tenant.id,
            url="https://127.0.0.1:9/hook",
            events=["subject.erased"],
            created_by="test",
            created_at=now,
            updated_at=now,
        ).id


def undelivered(member: Member) -> UUID:
    """A delivery that was given up."""
    now, webhook_id = timezone.now(), hooked(member)
    with scope(member.tenant.id):
        return Delivery.objects.create(
            tenant_id=member.tenant.id,
            webhook_id=webhook_id,
            event_id=webhook_id,
            event="webhook.test",
            data={},
            state="failed",
            due_at=now,
            created_at=now,
        ).id
