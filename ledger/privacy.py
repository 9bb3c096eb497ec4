"""What this app holds of a person: what the person's sessions were told, its copy in Redis, what was not
written, which slots were removed, what was thought of the person's memories, and which queries recall is
measured with."""

from django.db.models import Q

from ledger import keys
from ledger.models import EvaluationQuery, Feedback, Injection, SlotRemoval, WriteDecision
from tenants.privacy.registry import Keys, Rows, Subject, register
from tenants.tombstones import subject_of
from working import redis
from working.privacy import keys_of_person, of_sessions

FAMILIES = (keys.items, keys.state)


def _told(subject: Subject) -> Q:
    return of_sessions(subject, "session")


def _theirs(subject: Subject) -> Q:
    return Q(user_id=subject.user_id)


def _removed(subject: Subject) -> Q:
    return Q(subject=subject_of(tenant_id=subject.tenant_id, user_id=subject.user_id))


def _erase_keys(subject: Subject) -> int:
    return redis.delete_keys([key for key, _ref in keys_of_person(subject, FAMILIES)])


def register_handlers() -> None:
    """Called once the models are loaded."""
    register(
        Rows("injection", Injection, _told, "marked_at"),
        Rows("write_decision", WriteDecision, _theirs, "created_at"),
        # What was said before the erasure is refused as the person's, whatever slot it is about.
        Rows("slot_removal", SlotRemoval, _removed, "removed_at", exported=False),
        Rows("feedback", Feedback, _theirs, "created_at"),
        Rows("evaluation_query", EvaluationQuery, _theirs, "created_at"),
        Keys("ledger_key", FAMILIES, _erase_keys),
    )
