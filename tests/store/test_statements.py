"""How many statements the store asks of PostgreSQL: as many for hundreds of items as for a few."""

from collections import Counter

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from episodic.editing import list_revisions
from episodic.item_types import ItemName, ItemScope, NewItem
from episodic.models import Episode, EpisodeEmbedding, ItemVector
from recall.saving_items import save_items
from tenants.models import AuditEntry
from tenants.scope import scope
from tests.store.items import keys


def named(number, user_id=""):
    return ItemName(ItemScope(user_id=user_id), ("a",), f"k{number}")


def items(count, text, users=1):
    return [
        NewItem(named(at, f"u{at % users}"), {"text": f"{text} {at}."}, vectors=(("text", (1.0, at)),))
        for at in range(count)
    ]


def statements(member, writes):
    with CaptureQueriesContext(connection) as asked:
        save_items(caller=member.caller, writes=writes, now=timezone.now())
    changing = (
        "INSERT ",
        "UPDATE ",
        "DELETE ",
        "advisory_xact_lock",
    )  # beside what is looked up now and then
    return sum(any(word in one["sql"] for word in changing) for one in asked.captured_queries)


def test_many_are_put_replaced_and_deleted_in_as_many_statements_as_a_few(acme, globex):
    counted = {}
    for member, count in ((acme, 3), (globex, 60)):
        counted[count] = [
            statements(member, items(count, "Tea", users=3)),
            statements(member, items(count, "Coffee", users=3)),
            statements(member, [named(at, f"u{at % 3}") for at in range(count)]),
        ]
    assert counted[3] == counted[60]


def test_of_many_that_are_replaced_each_keeps_its_history(acme):
    for text in ("Tea", "Coffee", "Mate"):
        save_items(caller=acme.caller, writes=items(30, text), now=timezone.now())
    with scope(acme.tenant.id):
        episodes = list(Episode.objects.filter(tenant_id=acme.tenant.id))
        assert ItemVector.objects.filter(tenant_id=acme.tenant.id).count() == 30
    assert {one.version for one in episodes} == {3}
    for one in episodes:
        at = one.text.split()[1]
        kept = list_revisions(caller=acme.caller, episode_id=one.id, limit=9)
        assert [(row.number, row.text) for row in kept] == [(2, f"Coffee {at}"), (1, f"Tea {at}")]
        assert one.text == f"Mate {at}"


def test_each_that_is_deleted_stands_in_the_audit_log(acme):
    save_items(caller=acme.caller, writes=items(30, "Tea"), now=timezone.now())
    with scope(acme.tenant.id):
        mine = Episode.objects.filter(tenant_id=acme.tenant.id)
        ids = {str(one) for one in mine.values_list("id", flat=True)}
    save_items(caller=acme.caller, writes=[named(at, "u0") for at in range(30)], now=timezone.now())
    with scope(acme.tenant.id):
        told = AuditEntry.objects.filter(tenant_id=acme.tenant.id, action="episode.delete")
        assert Counter(told.values_list("target", flat=True)) == Counter(ids)


def test_what_has_vectors_of_the_client_is_not_embedded_when_it_is_put(acme, monkeypatch):
    """Not by the way, either: the process has no model then."""
    monkeypatch.setattr("providers.embeddings.get_embedder", None)
    monkeypatch.setattr("tenants.embedding.get_embedder", None)
    save_items(caller=acme.caller, writes=items(2, "Tea"), now=timezone.now())
    save_items(caller=acme.caller, writes=items(2, "Coffee"), now=timezone.now())
    with scope(acme.tenant.id):
        mine = Episode.objects.filter(tenant_id=acme.tenant.id)
        assert mine.filter(embed_pending=True).count() == 2
        assert not EpisodeEmbedding.objects.filter(tenant_id=acme.tenant.id).exists()
    assert len(keys(acme, "a", vector=[1.0, 0.0], user_id="u0")) == 2
