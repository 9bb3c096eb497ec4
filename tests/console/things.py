"""A thing of a tenant for each name that stands in an address of the console. The walls' tests open every
page with them; one whose address holds another name fails there until its maker is entered here."""

import secrets
from collections.abc import Callable
from datetime import timedelta
from secrets import token_hex
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone

from knowledge.deploying import deploy_procedures
from knowledge.procedure_files import read_procedure
from ledger.cases import NewQuery
from observations.bulk_jobs import BULK
from recall.saving_queries import save_query
from tenants.agents.agents import put_agent
from tenants.api_keys import create_api_key
from tenants.caller import Caller
from tenants.invitations import invite
from tenants.members import access_member, add_member
from tenants.models import Job, Role, Tenant, Tombstone
from tenants.policy.versions import Level, write_policy
from tenants.privacy.erasure import begin_erasure
from tenants.privacy.receipts import signed
from tenants.router import admin_role
from tests.console import remembered
from tests.console.injected import delivered, held_write, job, webhook
from tests.isolation.tables import store
from tests.knowledge.shelf import ingest
from tests.observations.notes import note

# What was made holds this word in its text, so that it would be noticed where it must not be.
MARK = "saffron-lantern"
# Part of each name, with nowhere to break it: a page that is too narrow for it must not be pushed to and fro.
LONG = "0123456789" * 7

MAKERS: dict[str, Callable[[Caller], Any]] = {}


def maker(name: str) -> Callable[[Callable[[Caller], Any]], Callable[[Caller], Any]]:
    """Registers what makes the thing and answers what stands in the address for it."""

    def register(make: Callable[[Caller], Any]) -> Callable[[Caller], Any]:
        MAKERS[name] = make
        return make

    return register


@maker("observation_id")
def observation_id(caller: Caller) -> int:
    return note(
        caller, f"The {MARK} {token_hex(4)} stands in the hall.", title=f"{MARK} {LONG}", topic_key=""
    ).observation.id


@maker("other_id")
def other_id(caller: Caller) -> int:
    return note(caller, f"The {MARK} {token_hex(4)} stands in the long hall.").observation.id


@maker("episode_id")
def episode_id(caller: Caller) -> UUID:
    return remembered.episode(
        caller, f"The {MARK} hangs over the door.", user_id=f"ann{LONG}", topics=(MARK, LONG)
    ).id


@maker("entity_id")
def entity_id(caller: Caller) -> UUID:
    key = f"email_{secrets.token_hex(4)}_{LONG}"
    made = remembered.slot(caller, f"{MARK}@example.com", key=key)
    remembered.waiting(caller, f"{MARK}@example.org", key=key)
    return made


@maker("session_row")
def session_row(caller: Caller) -> UUID:
    calls = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    told = remembered.episode(caller, f"The {MARK} is blue.", user_id=f"ann{LONG}")
    turns = [
        remembered.turn("user", f"Where is the {MARK}?"),
        remembered.turn("assistant", None, tool_calls=calls),
        remembered.turn("tool", f"{MARK} " * 300, tool_call_id="c", name="look"),
        remembered.turn("assistant", f"The {MARK} is in the attic."),
    ]
    session = remembered.talk(caller, *turns, session=f"{secrets.token_hex(4)}{LONG}", user=f"ann{LONG}")
    remembered.tell(caller, session, query=f"Where is the {MARK}?", episode=str(told.id))
    return session.id


@maker("seq")
def seq(caller: Caller) -> int:
    """Of the first turn of any session."""
    return 1


@maker("decision_id")
def decision_id(caller: Caller) -> UUID:
    return held_write(caller, f"The {MARK} may be green.").id


@maker("job_id")
def job_id(caller: Caller) -> UUID:
    return job(caller.tenant_id, payload={"about": MARK}).id


@maker("bulk_id")
def bulk_id(caller: Caller) -> UUID:
    """It waits long: no worker takes it while a test looks."""
    now = timezone.now()
    waiting = Job(
        tenant_id=caller.tenant_id, kind=BULK, payload={"deed": "tag", "value": MARK}, done=40, total=160,
        slow=True, max_attempts=12, run_at=now + timedelta(days=1), created_at=now,
    )  # fmt: skip
    return store(waiting).id


@maker("webhook_id")
def webhook_id(caller: Caller) -> UUID:
    return webhook(caller, description=f"The {MARK} wants to know {LONG}").id


@maker("delivery_id")
def delivery_id(caller: Caller) -> UUID:
    return delivered(caller, {"about": MARK}).id


@maker("query_id")
def query_id(caller: Caller) -> Any:
    new = NewQuery(f"Where is the {MARK}?", user_id="walled")
    return save_query(caller=caller, new=new, now=timezone.now()).id


@maker("document_id")
def document_id(caller: Caller) -> UUID:
    return ingest(caller, f"# The {MARK} {token_hex(4)} {LONG}\n\nIt stands in the hall.").shown.document.id


@maker("procedure")
def procedure(caller: Caller) -> str:
    name = f"{MARK}-{token_hex(4)}-{LONG}"
    for version in ("1", "2"):
        text = f"---\nversion: {version}\n---\nGreet with the {MARK}, {version} times."
        texts = [read_procedure(text.encode(), origin=f"{name}.md")]
        deploy_procedures(
            tenant_id=caller.tenant_id,
            environment="production",
            texts=texts,
            actor="test",
            now=timezone.now(),
        )
    return name


@maker("agent")
def agent(caller: Caller) -> str:
    name = f"agent-{token_hex(4)}-{LONG}"
    rule = {"tool": "bash", "matchOutput": MARK}
    spec = {"memory": {"project": MARK}, "toolHooks": {"memorySaveRules": [rule]}}
    put_agent(caller=caller, name=name, document=spec, now=timezone.now())
    return name


@maker("policy_version")
def policy_version(caller: Caller) -> int:
    changes = {"limits": {"entities_per_user": 500 + secrets.randbelow(500)}}
    level = Level(caller.tenant_id)
    return write_policy(level=level, actor="test", changes=changes, note=MARK).version


@maker("key_id")
def key_id(caller: Caller) -> str:
    tenant = Tenant(id=caller.tenant_id, slug=caller.tenant)
    return create_api_key(tenant=tenant, actor="test", name=f"{MARK} {LONG}")[0].key_id


@maker("member_id")
def member_id(caller: Caller) -> UUID:
    with admin_role():
        user = User.objects.create(username=f"{MARK}-{secrets.token_hex(4)}-{LONG}")
    tenant = Tenant(id=caller.tenant_id, slug=caller.tenant)
    return add_member(tenant=tenant, user=user, role=Role.VIEWER, actor="test").id


@maker("invitation_id")
def invitation_id(caller: Caller) -> UUID:
    with admin_role():
        user = User.objects.create(username=f"inviting-{secrets.token_hex(4)}")
    tenant = Tenant(id=caller.tenant_id, slug=caller.tenant)
    add_member(tenant=tenant, user=user, role=Role.ADMIN, actor="test")
    admin = access_member(user=user, tenant=caller.tenant)
    return invite(caller=admin, role=Role.VIEWER, note=MARK, days=1, now=timezone.now())[0].id


@maker("erasure_id")
def erasure_id(caller: Caller) -> UUID:
    user_id = f"gone-{secrets.token_hex(4)}"
    return begin_erasure(tenant_id=caller.tenant_id, user_id=user_id, actor="test", now=timezone.now()).id


@maker("receipt_id")
def receipt_id(caller: Caller) -> UUID:
    now = timezone.now()
    receipt = signed({"erased": {"episode": 2}, "digests": {}, "residue": {}, "passes": 1})
    done = Tombstone(
        tenant_id=caller.tenant_id,
        subject=secrets.token_hex(32),
        erased_at=now,
        requested_by="test",
        completed_at=now,
        receipt=receipt,
    )
    return store(done).id
