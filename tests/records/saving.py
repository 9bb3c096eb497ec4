"""Saving records as tests do: by a text, mostly."""

from typing import Any

from django.utils import timezone

from episodic.models import Episode
from episodic.records import NewRecord, list_records, save_records
from episodic.types import EpisodeFilter, SavedRecord
from tenants.caller import Caller
from tenants.jobs import runner
from tenants.models import Job
from tenants.scope import scope
from tests.conftest import Member


def record(text: str, **named: Any) -> NewRecord:
    return NewRecord(**({"id": None, "text": text, "user_id": "alice"} | named))


def save(
    caller: Caller, *texts: str | NewRecord, deduplicate: bool = True, **named: Any
) -> list[SavedRecord]:
    records = [record(one, **named) if isinstance(one, str) else one for one in texts]
    saved = save_records(caller=caller, records=records, deduplicate=deduplicate, now=timezone.now())
    return list(saved.records)


def holding(caller: Caller, **where: Any) -> list[str]:
    """What all that hold say, sorted."""
    found, total = list_records(caller=caller, where=EpisodeFilter(**where), limit=100)
    assert total == len(found)
    return sorted(one.text for one in found)


def stored(caller: Caller, episode: Episode) -> Episode:
    with scope(caller.tenant_id):
        return Episode.objects.get(id=episode.id)


def done_by_jobs(member: Member, kind: str) -> list[Any]:
    """What the member's jobs of that kind answer, once they are done."""
    while runner.run_jobs(slow=True):
        pass
    with scope(member.tenant.id):
        found = list(Job.objects.filter(tenant_id=member.tenant.id, kind=kind).order_by("id"))
    assert {one.state for one in found} <= {"done"}, [one.error for one in found]
    return [one.result for one in found]
