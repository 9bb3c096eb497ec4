"""What the summaries of a session say, as its episodes have it now, and a client that set one itself."""

from django.db.models import QuerySet

from episodic.models import Episode, Origin
from recall.summary import Part, run_together
from working.models import Session

SUMMARY = "session_summary"  # the kind that their metadata names


def summaries_of(session: Session) -> QuerySet[Episode]:
    """The session's summaries, not those of a deleted session that had the same id. In the open scope."""
    return Episode.objects.filter(
        tenant_id=session.tenant_id,
        session=session.external_id,
        namespace=session.namespace,
        user_id=session.user_id,
        origin=Origin.SESSION,
        metadata__kind=SUMMARY,
        created_at__gte=session.started_at,
    )


def told_parts(session: Session) -> list[Part]:
    """The summaries that hold, in the order of the turns that they tell of. In the open scope."""
    found = summaries_of(session).filter(valid_to=None, covers_turns__isnull=False).order_by("covers_turns")
    parts = [Part((one.covers_turns[0], one.covers_turns[1]), one.text) for one in found if one.covers_turns]
    return [part for part in parts if part.covers[1] <= session.summarised_seq]


def running_summary(session: Session) -> str:
    """What a client has set, and the summaries of what came since. In the open scope."""
    since = [part for part in told_parts(session) if part.covers[0] > session.lead_seq]
    return "\n".join(filter(None, (session.lead, run_together(since) if since else "")))
