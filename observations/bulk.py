"""One deed on many observations: first how many and whose it would touch, then in batches."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db.models import Q

from observations.announcements import tell_observations
from observations.dedup import find_topic, identity_of, lock_identity
from observations.indexing import index_observation, unindex_observation
from observations.models import Observation
from observations.revising import keep_revisions
from observations.selecting import condition_of, words_of
from observations.trail import record
from observations.types import GLOBAL, Selection
from observations.validation import MOST_TAGS, check
from tenants.caller import Caller
from tenants.errors import Invalid
from tenants.scope import scope
from tenants.tombstones import read_standings
from webhooks.models import Event

MOST = 100_000  # observations that one deed touches: by a job less than two minutes
TOGETHER = 100  # of which one transaction changes so many
Deed = Literal["tag", "untag", "retype", "trash", "restore"]
TOLD: dict[Deed, Event] = {"trash": Event.RETRACTED, "restore": Event.CREATED}


@dataclass(frozen=True, slots=True)
class Reached:
    """Which observations a deed would touch. `beyond`: there are more than it touches at once."""

    count: int
    beyond: bool
    projects: tuple[tuple[str, int], ...]
    everywhere: int  # global ones, that agents of every project see
    people: int


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it. `refused`: whose topic key is taken, or that have as many tags as they can. `passed`:
    that no longer were what was chosen, or are of people who were erased or restricted meanwhile."""

    changed: int = 0
    unchanged: int = 0
    refused: int = 0
    passed: int = 0

    def __add__(self, other: "Done") -> "Done":
        return Done(
            self.changed + other.changed,
            self.unchanged + other.unchanged,
            self.refused + other.refused,
            self.passed + other.passed,
        )


def foresee(*, caller: Caller, where: Selection) -> Reached:
    """What a deed on these would touch, of the first `MOST`."""
    condition = _chosen(caller, where, to_change=True)
    with scope(caller.tenant_id):
        found = Observation.objects.filter(condition).order_by("-created_at", "-id")
        rows = list(found.values_list("project", "scope", "user_id")[: MOST + 1])
    touched = rows[:MOST]
    return Reached(
        count=len(touched),
        beyond=len(rows) > MOST,
        projects=tuple(Counter(project for project, _scope, _user in touched).most_common()),
        everywhere=sum(where_seen == GLOBAL for _project, where_seen, _user in touched),
        people=len({user for _project, _scope, user in touched if user}),
    )


def change_many(*, caller: Caller, where: Selection, deed: Deed, value: str = "", now: datetime) -> Done:
    """Does it to the newest `MOST` of these, in transactions of `TOGETHER`, each with its entry in the audit
    log. `value`: the tag or the type. Those that are so already stay as they are; those that are changed
    meanwhile, so that they are not meant any longer, and those of people who were erased or restricted, are
    passed by. Raises Invalid."""
    value = check_deed(deed, value)
    ids = choose(caller=caller, where=where)
    condition = still_meant(caller, where)
    done = Done()
    for start in range(0, len(ids), TOGETHER):
        batch = ids[start : start + TOGETHER]
        with scope(caller.tenant_id):
            part = change_batch(caller, condition, batch, deed=deed, value=value, since=now, now=now)
            if part.changed:
                record(caller, f"bulk_{deed}", "", count=part.changed)
        done += part
    return done


def choose(*, caller: Caller, where: Selection, most: int | None = None) -> list[int]:
    """The ids of the newest `most` of these, `MOST` at the most: they are meant from now on, and no others.
    Raises Invalid."""
    condition = _chosen(caller, where, to_change=True)
    with scope(caller.tenant_id):
        found = Observation.objects.filter(condition).order_by("-created_at", "-id")
        return list(found.values_list("id", flat=True)[: MOST if most is None else min(most, MOST)])


def still_meant(caller: Caller, where: Selection) -> Q:
    """The condition on those of a batch, when its turn comes, that they may be changed and are as they were
    chosen. Asked outside a scope."""
    return condition_of(caller, where, to_change=True) & words_of(caller, where, each=True)


def check_deed(deed: Deed, value: str) -> str:
    """The tag or type as it is stored. Raises Invalid for none, and for one that is too long."""
    value = value.strip()
    if deed in ("tag", "untag"):
        if not value:
            raise Invalid("Name a tag.", "value")
        check(tags=[value])
    elif deed == "retype":
        check(type=value)
    return value


def change_batch(
    caller: Caller,
    condition: Q,
    ids: Sequence[int],
    *,
    deed: Deed,
    value: str,
    since: datetime,
    now: datetime,
) -> Done:
    """Does it, in the open scope, to those of these for which `condition` still holds; `since`: when it was
    asked for."""
    meant = Observation.objects.filter(condition, id__in=ids)
    rows = list(meant)
    untouchable = _untouchable(caller, rows, since)
    if deed == "restore":
        lock_identity(*map(identity_of, rows))
    mine = [one for one in meant.select_for_update().order_by("id") if one.user_id not in untouchable]
    done, changed = _sort_out(mine, deed, value)
    if changed:
        _WRITE[deed](caller, changed, value, now)
        tell_observations(caller.tenant_id, changed, TOLD.get(deed, Event.UPDATED))
    return done + Done(passed=len(ids) - len(mine))


def export_selected(*, caller: Caller, where: Selection) -> Iterator[list[Observation]]:
    """All of these in full, newest first. In pages, each read in a scope of its own when it is asked for,
    without what is gone or thrown away until then; that they are taken out is in the audit log."""
    condition = _chosen(caller, where)
    with scope(caller.tenant_id):
        found = Observation.objects.filter(condition).order_by("-created_at", "-id")
        ids = list(found.values_list("id", flat=True))
        record(caller, "export", "", count=len(ids))
    return _pages(caller, condition_of(caller, where), ids)


def _pages(caller: Caller, condition: Q, ids: Sequence[int]) -> Iterator[list[Observation]]:
    for start in range(0, len(ids), TOGETHER):
        with scope(caller.tenant_id):
            found = Observation.objects.filter(condition, id__in=ids[start : start + TOGETHER])
            page = list(found.order_by("-created_at", "-id"))
        yield page


def _chosen(caller: Caller, where: Selection, *, to_change: bool = False) -> Q:
    """The condition on rows; of what a search finds, on those that hold every word."""
    return condition_of(caller, where, to_change=to_change) & words_of(caller, where)


def _untouchable(caller: Caller, rows: Sequence[Observation], since: datetime) -> set[str]:
    """The people among these who were erased since, or are restricted; none of the others can be until the
    open scope ends."""
    users = {one.user_id for one in rows if one.user_id}
    standings = read_standings(tenant_id=caller.tenant_id, user_ids=users)
    return {user for user, erased_at in standings.erased.items() if erased_at >= since} | standings.restricted


def _sort_out(rows: Sequence[Observation], deed: Deed, value: str) -> tuple[Done, list[Observation]]:
    changed: list[Observation] = []
    unchanged = refused = 0
    for one in rows:
        if _is_so(one, deed, value):
            unchanged += 1
        elif (deed == "tag" and len(one.tags) >= MOST_TAGS) or (deed == "restore" and _taken(one, changed)):
            refused += 1
        else:
            changed.append(one)
    return Done(len(changed), unchanged, refused), changed


def _is_so(one: Observation, deed: Deed, value: str) -> bool:
    return {
        "tag": value in one.tags,
        "untag": value not in one.tags,
        "retype": one.type == value,
        "trash": one.deleted_at is not None,
        "restore": one.deleted_at is None,
    }[deed]


def _taken(one: Observation, restored: Sequence[Observation]) -> bool:
    """Whether a live one has its topic, or one that comes back with it."""
    return bool(one.topic_key) and (
        find_topic(identity_of(one)) is not None
        or any(_topic(one) == _topic(other) for other in restored if other.topic_key)
    )


def _topic(one: Observation) -> tuple[str, ...]:
    return one.project, one.scope, one.user_id, one.topic_key


def _retag(caller: Caller, rows: Sequence[Observation], value: str, now: datetime) -> None:
    keep_revisions(rows, caller=caller, now=now)
    for one in rows:
        one.tags = [tag for tag in one.tags if tag != value] if value in one.tags else [*one.tags, value]
        one.updated_at = now
    Observation.objects.bulk_update(rows, ["tags", "updated_at"])


def _retype(caller: Caller, rows: Sequence[Observation], value: str, now: datetime) -> None:
    keep_revisions(rows, caller=caller, now=now)
    for one in rows:
        one.type, one.updated_at = value, now
    Observation.objects.bulk_update(rows, ["type", "updated_at"])
    for one in rows:
        index_observation(one, now=now)


def _trash(caller: Caller, rows: Sequence[Observation], value: str, now: datetime) -> None:
    Observation.objects.filter(tenant_id=caller.tenant_id, id__in=_ids(rows)).update(deleted_at=now)
    for one in rows:
        unindex_observation(one)


def _restore(caller: Caller, rows: Sequence[Observation], value: str, now: datetime) -> None:
    back = Observation.objects.filter(tenant_id=caller.tenant_id, id__in=_ids(rows))
    back.update(deleted_at=None, embed_pending=True)
    for one in rows:
        one.deleted_at, one.embed_pending = None, True
        index_observation(one, now=now)


def _ids(rows: Sequence[Observation]) -> list[int]:
    return [one.id for one in rows]


_WRITE = {"tag": _retag, "untag": _retag, "retype": _retype, "trash": _trash, "restore": _restore}
