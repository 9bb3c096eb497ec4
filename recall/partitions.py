"""Making the summary of one group of a summary view."""

from collections.abc import Callable
from datetime import datetime

from django.utils import timezone

from episodic.models import SummaryPartition, SummaryView
from episodic.summary_partitions import (
    ChangedMeanwhile,
    Told,
    drop_partition,
    find_partition,
    records_of,
    save_partition,
    whose,
)
from episodic.summary_retiring import have_made_again
from episodic.summary_views import Group, access_view, check_group
from recall.digesting import Digest, quotable, wanted_fingerprint, write_digest
from tenants.caller import Caller
from tenants.errors import Restricted, Unavailable
from tenants.restrictions import refuse_restricted

WAIT = 20.0  # seconds that the model has while somebody waits
READ_AGAIN = 3  # times, if what was read is not there any more when the summary is stored
NO_RECORDS = "No memories match this group."
NONE_QUOTABLE = "None of the memories of this group may be repeated."

Then = Callable[[Digest], object]


def run_partition(*, caller: Caller, view_id: str, group: Group, now: datetime) -> SummaryPartition:
    """Makes the summary of one group, whatever there was. A language model that does not answer in time is
    asked again by a job; until then the deterministic summary stands. Raises NotFound, OtherGroup, Forbidden,
    Restricted, Unavailable when its records change all the time."""
    view = access_view(caller=caller, view_id=view_id)
    check_group(caller=caller, view=view, group=group)
    user_id = whose(view, group, now=now)
    refuse_restricted(tenant_id=caller.tenant_id, user_id=user_id)

    def ask_again(digest: Digest) -> None:
        if digest.away:
            have_made_again(tenant_id=view.tenant_id, view_id=view.id, group=group, user_id=user_id, now=now)

    return make_partition(view=view, group=group, seconds=WAIT, also=ask_again)


def make_partition(
    *,
    view: SummaryView,
    group: Group,
    seconds: float | None = None,
    check: Then = lambda digest: None,
    also: Then = lambda digest: None,
) -> SummaryPartition:
    """Makes and stores it. `check` is shown what was written and may raise; `also` is done in the commit. The
    language model has no more than `seconds`, where they are given. Never in a scope."""
    for again in range(READ_AGAIN):
        records = quotable(found := records_of(view=view, group=group, now=timezone.now()))
        digest = Digest("")
        if records:
            digest = write_digest(records, tenant_id=view.tenant_id, wanted=view.prompt, seconds=seconds)
        check(digest)
        reason = "" if records else NONE_QUOTABLE if found else NO_RECORDS
        new = _built(view, group, records, digest, reason)
        new.fingerprint = "" if digest.away else wanted_fingerprint(found, wanted=view.prompt)
        try:
            save_partition(new=new, records=records, also=lambda: also(digest))  # noqa: B023  called at once
        except (ChangedMeanwhile, Restricted):
            if again == READ_AGAIN - 1:
                raise Unavailable("What is summarised changes at this moment.") from None
        else:
            return new
    raise AssertionError("the last time either returns or raises")


def refresh_partition(*, view: SummaryView, group: Group, made_since: datetime | None, check: Then) -> bool:
    """Makes the summary of a group unless there is one that was made since then, or, without a moment, of the
    records that there are and by who would make it now; whether it did. Of no records, none is left. Raises
    what `check` raises, and as `make_partition`."""
    former = find_partition(view=view, group=group)
    if former is not None and made_since is not None and former.computed_at >= made_since:
        return False
    now = timezone.now()
    records = records_of(view=view, group=group, now=now)
    if not records:
        drop_partition(view=view, group=group, made_before=now)
        return False
    is_same = former is not None and former.fingerprint == wanted_fingerprint(records, wanted=view.prompt)
    if is_same and made_since is None:
        return False
    make_partition(view=view, group=group, check=check)
    return True


def _built(
    view: SummaryView, group: Group, records: list[Told], digest: Digest, reason: str
) -> SummaryPartition:
    now = timezone.now()
    return SummaryPartition(
        tenant_id=view.tenant_id,
        view_id=view.id,
        user_id=whose(view, group, now=now),
        users=sorted({one.user_id for one in records} - {""}),
        group=dict(group),
        summary=digest.text,
        memory_count=len(records),
        empty_reason=reason,
        model=digest.model,
        prompt_id=digest.prompt_id,
        oldest_at=min((one.created_at for one in records), default=now),
        passing=_passing(records),
        computed_at=now,
    )


def _passing(records: list[Told]) -> list[dict[str, str]]:
    """Of records that stand oldest first."""
    oldest: dict[str, datetime] = {}
    for one in records:
        if one.passes:
            oldest.setdefault(one.agent_id, one.created_at)
    return [{"agent_id": agent_id, "since": since.isoformat()} for agent_id, since in oldest.items()]
