"""What this app holds of a person: observations, their history, and what they are found by."""

from django.db.models import Q

from observations.models import Observation, ObservationEmbedding, ObservationRevision, SearchEntry
from tenants.privacy.mentions import scrub_lists
from tenants.privacy.registry import Rows, Subject, register


def _theirs(subject: Subject) -> Q:
    return Q(user_id=subject.user_id)


def _old(subject: Subject) -> Q:
    """By the observation's moment: one may have been changed or embedded long after it was written."""
    old = Observation.objects.filter(
        _theirs(subject), tenant_id=subject.tenant_id, created_at__lte=subject.until
    )
    return Q(observation_id__in=old.values("id"))


def _nobodys(subject: Subject) -> Q:
    return Q(id__in=[])


def _scrub_tags(subject: Subject) -> int:
    """Tags are not among the words that an observation is found by."""
    old = Observation.objects.filter(tenant_id=subject.tenant_id, created_at__lte=subject.until)
    return scrub_lists(old, ("tags",), subject)


def _scrub_revisions(subject: Subject) -> int:
    old = ObservationRevision.objects.filter(tenant_id=subject.tenant_id, replaced_at__lte=subject.until)
    return scrub_lists(old, ("tags",), subject)


def register_handlers() -> None:
    """Called once the models are loaded."""
    hidden = frozenset({"embed_pending", "normalized_hash"})
    register(
        # By themselves, vectors and lexemes tell the person nothing that the text does not.
        Rows("observation_embedding", ObservationEmbedding, _old, "created_at", exported=False),
        Rows("observation_search", SearchEntry, _theirs, "created_at", exported=False),
        Rows("observation_revision", ObservationRevision, _old, "replaced_at"),
        Rows("observation", Observation, _theirs, "created_at", hidden=hidden),
        # Rows of others, which stay without the person's id.
        Rows("observation_mention", Observation, _nobodys, "created_at", exported=False, rest=_scrub_tags),
        Rows(
            "observation_revision_mention",
            ObservationRevision,
            _nobodys,
            "replaced_at",
            exported=False,
            rest=_scrub_revisions,
        ),
    )
