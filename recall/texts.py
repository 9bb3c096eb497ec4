"""What memories of any kind say now, by the names that the ledger and the feedback have for them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from episodic.episodes import KEPT_BACK, is_kept_back
from episodic.models import Entity, Episode
from episodic.slots import text_of
from observations.models import Observation
from recall.feedback import NUMBER
from tenants.caller import Caller

Named = tuple[str, str]  # kind and id
Rows = Mapping[str, Any]  # the filter of what the caller reaches


def texts_of(*, caller: Caller, named: Iterable[Named]) -> dict[Named, str]:
    """What these memories say now; without those that are gone, those that are none, and another person's
    than the key is bound to. Of a turn that the caller is not shown, the sentence that says so. In the open
    scope."""
    mine = {"tenant_id": caller.tenant_id} | ({"user_id": caller.user_id} if caller.user_id else {})
    ids: dict[str, set[str]] = {}
    for kind, memory_id in named:
        ids.setdefault(kind, set()).add(memory_id)
    return {
        (kind, memory_id): text
        for kind, read in _READERS.items()
        if kind in ids
        for memory_id, text in read(caller, mine, ids[kind]).items()
    }


def _episodes(caller: Caller, mine: Rows, ids: Collection[str]) -> dict[str, str]:
    found = Episode.objects.filter(**mine, id__in=_uuids(ids))
    return {str(one.id): KEPT_BACK if is_kept_back(caller, one) else one.text for one in found}


def _slots(caller: Caller, mine: Rows, ids: Collection[str]) -> dict[str, str]:
    return {str(one.id): text_of(one) for one in Entity.objects.filter(**mine, id__in=_uuids(ids))}


def _observations(caller: Caller, mine: Rows, ids: Collection[str]) -> dict[str, str]:
    numbers = [int(one) for one in ids if NUMBER.fullmatch(one)]
    found = Observation.objects.filter(**mine, id__in=numbers).values_list("id", "title", "content")
    return {str(one): f"{title}\n{content}" for one, title, content in found}


def _uuids(ids: Collection[str]) -> list[UUID]:
    """Those that can be ids: clients mark items of their own making."""
    found = []
    for one in ids:
        try:
            found.append(UUID(one))
        except ValueError:
            continue
    return found


_READERS: Mapping[str, Callable[[Caller, Rows, Collection[str]], dict[str, str]]] = {
    "episode": _episodes,
    "entity": _slots,
    "observation": _observations,
}
