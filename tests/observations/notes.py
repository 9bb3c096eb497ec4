"""Observations for tests."""

from typing import Any

from django.utils import timezone

from observations.embedding import embed_batch
from observations.saving import save_observation
from observations.search import search_observations
from observations.types import NewObservation, ObservationFilter, Saved, SearchHit
from tenants.caller import Caller


def note(caller: Caller, content: str = "We use the blue cluster.", **more: Any) -> Saved:
    """Saves one, of which the test says what matters to it."""
    now = more.pop("now", None) or timezone.now()
    given = {"session_id": "s1", "type": "decision", "title": "Cluster", "project": "orders"} | more
    return save_observation(caller=caller, new=NewObservation(content=content, **given), now=now)


def embed(caller: Caller) -> None:
    """Has all vectors made that are missing."""
    while embed_batch(caller.tenant_id):
        pass


def search(caller: Caller, text: str, *, limit: int = 10, mode: Any = None, **where: Any) -> list[SearchHit]:
    wanted = ObservationFilter(**({"project": "orders"} | where))
    return search_observations(caller=caller, text=text, where=wanted, limit=limit, mode=mode)


def titles(hits: list[SearchHit]) -> list[str]:
    return [hit.observation.title for hit in hits]
