"""What this app's own tables hold of a person: bound keys, jobs with their exports, stored answers.

Tombstones stay: they are what keeps the person away, and they name nobody.
"""

from django.db.models import Q

from tenants.models import ApiKey, ExportChunk, Job, Restriction, StoredAnswer
from tenants.privacy.mentions import scrub_answers
from tenants.privacy.registry import Rows, Subject, register
from tenants.subjects import token_principal


def _theirs(subject: Subject) -> Q:
    return Q(user_id=subject.user_id)


def _chunks(subject: Subject) -> Q:
    mine = Job.objects.filter(_theirs(subject), tenant_id=subject.tenant_id, created_at__lte=subject.until)
    return Q(job_id__in=mine.values("id"))


def _answers(subject: Subject) -> Q:
    """About the person, or given to the person's own tokens."""
    return _theirs(subject) | Q(principal=token_principal(subject.user_id))


def _nobodys(subject: Subject) -> Q:
    return Q(id__in=[])


def register_handlers() -> None:
    """Called once the models are loaded."""
    register(
        # First, so that nothing more is written with them. Deleted, not unbound: that would widen them.
        Rows("api_key", ApiKey, _theirs, "created_at", hidden=frozenset({"secret_hash"}), as_admin=True),
        # An export is the person's own copy of what stands in the other stores.
        Rows("export_chunk", ExportChunk, _chunks, "created_at", exported=False),
        # One that runs loses its lease with its row.
        Rows("job", Job, _theirs, "created_at", hidden=frozenset({"lease", "lease_until"})),
        # Copies of what the other stores hold; one that the person was given may be about somebody else.
        Rows("stored_answer", StoredAnswer, _answers, "created_at", exported=False),
        # What was answered to others stays, without the person's id in its lists.
        Rows(
            "stored_answer_mention",
            StoredAnswer,
            _nobodys,
            "created_at",
            exported=False,
            rest=scrub_answers,
        ),
        # Who is erased needs no restriction any more.
        Rows("restriction", Restriction, _theirs, "since"),
    )
