"""What this app holds of a person: episodes, entity slots, their embeddings, and summaries of them."""

from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BooleanField, F, Func, Q

from episodic.indexing import index_again
from episodic.models import (
    Entity,
    EntityEmbedding,
    Episode,
    EpisodeAccess,
    EpisodeEmbedding,
    EpisodeRevision,
    EpisodeWords,
    Item,
    ItemVector,
    SummaryPartition,
    SummaryRun,
    SummaryView,
)
from episodic.summary_retiring import have_made_without
from ledger.cases import drop_labels
from ledger.models import EvaluationQuery
from tenants.privacy.mentions import lists_without, names_of, says, scrub_lists, without
from tenants.privacy.registry import BATCH, Rows, Subject, register


def _theirs(subject: Subject) -> Q:
    return Q(user_id=subject.user_id)


def _of_old_episodes(subject: Subject) -> Q:
    """By the episode's moment: one may have been embedded long after it was written."""
    old = Episode.objects.filter(_theirs(subject), tenant_id=subject.tenant_id, created_at__lte=subject.until)
    return _theirs(subject) & Q(episode_id__in=old.values("id"))


def _used(subject: Subject) -> Q:
    """An old episode may have been used just now."""
    old = Episode.objects.filter(_theirs(subject), tenant_id=subject.tenant_id, created_at__lte=subject.until)
    return _theirs(subject) & Q(id__in=old.values("id"))


def _of_old_slots(subject: Subject) -> Q:
    old = Entity.objects.filter(_theirs(subject), tenant_id=subject.tenant_id, created_at__lte=subject.until)
    return _theirs(subject) & Q(entity_id__in=old.values("id"))


def episodes_kept_under(*, tenant_id: UUID, user_id: str) -> Q:
    """Episodes of nobody that say what items say in a namespace of which the person's id is a label."""
    named = Item.objects.filter(_named_after(user_id), tenant_id=tenant_id)
    # One array, read once: a join would compare each row with each as long as the tables are not analysed.
    ids = ArraySubquery(named.values("id"))
    says_one = Func(
        F("id"), ids, arg_joiner=" = ANY(", template="%(expressions)s)", output_field=BooleanField()
    )
    return Q(says_one, user_id="")


def _named_after(user_id: str) -> Q:
    """Items of nobody under the person's name: clients without people of their own keep them apart so. No
    label holds a dot, so none is an id that does."""
    if "." in user_id:
        return Q(id__in=[])
    label = f"{user_id}."
    return Q(user_id="") & (Q(path__startswith=label) | Q(path__contains=f".{label}"))


def _items(subject: Subject) -> Q:
    return _theirs(subject) | _named_after(subject.user_id)


def _of_items_named_after(subject: Subject) -> Q:
    return episodes_kept_under(tenant_id=subject.tenant_id, user_id=subject.user_id)


def _vectors_of_items(subject: Subject) -> Q:
    named = Item.objects.filter(_named_after(subject.user_id), tenant_id=subject.tenant_id)
    return _theirs(subject) | Q(item_id__in=named.values("id"))


def _nobodys(subject: Subject) -> Q:
    return Q(id__in=[])


def _drop_labels(subject: Subject) -> int:
    """Queries that ask for an agent's memories stay, without labels that point to the person's."""

    def theirs(labels: list[UUID]) -> list[UUID]:
        old = Episode.objects.filter(
            _theirs(subject), tenant_id=subject.tenant_id, created_at__lte=subject.until
        )
        return list(old.filter(id__in=labels).values_list("id", flat=True))

    return drop_labels(tenant_id=subject.tenant_id, are_gone=theirs)


def _scrub_episodes(subject: Subject) -> int:
    """Takes the person's id out of the lists of what other people's episodes are about, and those out of the
    words that they are found by. Without a revision, which would keep it."""
    names = names_of(subject)
    naming = Q(topics__overlap=names) | Q(entities__overlap=names)
    for name in names:
        naming |= Q(entities_mentioned__contains=[name])
    found = Episode.objects.filter(naming, tenant_id=subject.tenant_id, created_at__lte=subject.until)
    episodes = list(found.select_for_update().order_by("id")[:BATCH])
    for one in episodes:
        one.topics, one.entities = without(one.topics, names), without(one.entities, names)
        if isinstance(one.entities_mentioned, list):
            one.entities_mentioned = without(one.entities_mentioned, names)
        one.version += 1
        one.save(update_fields=["topics", "entities", "entities_mentioned", "version"])
        index_again(one)
    return len(episodes)


def _scrub_revisions(subject: Subject) -> int:
    old = EpisodeRevision.objects.filter(tenant_id=subject.tenant_id, replaced_at__lte=subject.until)
    return scrub_lists(old, ("topics", "entities"), subject)


def _made_of_theirs(subject: Subject) -> Q:
    """Summaries that theirs are part of, among others', or whose group is called like them."""
    called = Q()
    for name in ("user_id", "session_id", "namespace"):
        called |= Q(group__contains={name: subject.user_id})
    return (called | Q(users__contains=[subject.user_id])) & ~_theirs(subject)


def _have_made_without(subject: Subject) -> int:
    """What tells of others as well is made again of theirs: by jobs that are there before it goes."""
    have_made_without(
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        names=frozenset(names_of(subject)),
        until=subject.until,
    )
    return 0


def _scrub_views(subject: Subject) -> int:
    """Takes the person out of the lists by which other people's views choose. A view that means the person
    by a value of its own is nothing without it."""
    names, scrubbed = names_of(subject), 0
    views = SummaryView.objects.filter(tenant_id=subject.tenant_id, created_at__lte=subject.until)
    for view in views.select_for_update().order_by("id"):
        before = (view.filters, view.tests, view.name, view.prompt, view.model_name)
        view.filters, view.tests = (lists_without(one, names) for one in before[:2])
        view.name, view.prompt, view.model_name = ("" if one in names else one for one in before[2:])
        if any(says(one, frozenset(names), by_name=False) for one in (view.filters, view.tests)):
            view.delete()
            scrubbed += 1
        elif before != (view.filters, view.tests, view.name, view.prompt, view.model_name):
            view.save(update_fields=["filters", "tests", "name", "prompt", "model_name"])
            scrubbed += 1
    return scrubbed


def register_handlers() -> None:
    """Called once the models are loaded."""
    hidden = frozenset({"embed_pending", "content_hash"})
    register(
        Rows("store_vector", ItemVector, _vectors_of_items, "created_at", exported=False),
        # With the items that they say, as long as those tell whose they are.
        Rows("store_item_mention", Episode, _of_items_named_after, "created_at", exported=False),
        Rows("store_item", Item, _items, "created_at", hidden=frozenset({"digest"})),
        # A vector is a reading of the text that is exported: by itself it tells the person nothing.
        Rows("embedding", EpisodeEmbedding, _of_old_episodes, "created_at", exported=False),
        Rows("episode_words", EpisodeWords, _theirs, "created_at", exported=False),
        Rows("episode_access", EpisodeAccess, _used, "last_accessed_at"),
        Rows("entity_embedding", EntityEmbedding, _of_old_slots, "created_at", exported=False),
        Rows("entity", Entity, _theirs, "created_at", hidden=frozenset({"embed_pending"})),
        Rows("episode_revision", EpisodeRevision, _of_old_episodes, "replaced_at"),
        # While the episodes are still there to tell whose they are.
        Rows(
            "evaluation_label",
            EvaluationQuery,
            _nobodys,
            "created_at",
            exported=False,
            rest=_drop_labels,
        ),
        Rows("episode", Episode, _theirs, "created_at", hidden=hidden),
        # Rows of others, which stay without the person's id.
        Rows("episode_mention", Episode, _nobodys, "created_at", exported=False, rest=_scrub_episodes),
        Rows(
            "episode_revision_mention",
            EpisodeRevision,
            _nobodys,
            "replaced_at",
            exported=False,
            rest=_scrub_revisions,
        ),
    )
    _register_summaries()


def _register_summaries() -> None:
    """After the episodes: what is made of them meanwhile is found here."""
    hidden = frozenset({"fingerprint", "passing"})
    register(
        Rows(
            "summary_partition",
            SummaryPartition,
            _theirs,
            "oldest_at",
            hidden=hidden,
            rest=_have_made_without,
        ),
        # They tell of others, too: not for the person's export.
        Rows("summary_partition_of_several", SummaryPartition, _made_of_theirs, "oldest_at", exported=False),
        Rows("summary_run", SummaryRun, _theirs, "created_at"),
        Rows("summary_view", SummaryView, _theirs, "created_at"),
        Rows("summary_view_mention", SummaryView, _nobodys, "created_at", exported=False, rest=_scrub_views),
    )
