"""The records that a client keeps with a session until they are remembered. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from tenants.ulids import new_ulid

Record = Mapping[str, Any]
# What the server adds or changes; the rest is what the record says.
SERVERS = frozenset(
    {
        "persisted_at", "refused_at", "recorded_at", "left_out_at",
        "last_accessed", "created_at", "updated_at", "memory_hash",
    }
)  # fmt: skip


def merge_records(
    *,
    stored: Sequence[Record],
    given: Sequence[Record],
    read_at: datetime | None,
    now: datetime,
    remembers: bool,
) -> list[dict[str, Any]]:
    """The records that a session has after a client has sent `given`, each once by its id.

    One that says what it said before keeps when it was remembered; one that says something else is to be
    remembered anew. Those that came after the client had read, at `read_at`, and that it lacks stay; None: it
    has read all. With `remembers`, the others that it lacks stay aside until they are remembered: that they
    would be was answered when they came.
    """
    before = {one["id"]: one for one in stored}
    merged = {one["id"]: one for one in _noted(given, before, now)}
    for one in stored:
        if read_at is not None and datetime.fromisoformat(one["recorded_at"]) > read_at:
            merged.setdefault(one["id"], dict(one))
    lacking = [one for one in stored if one["id"] not in merged]
    return [*merged.values(), *(leave_out(lacking, now) if remembers else ())]


def waiting(records: Sequence[Record]) -> list[Record]:
    """Those that are to be remembered."""
    return [one for one in records if not one.get("persisted_at") and not one.get("refused_at")]


def leave_out(records: Sequence[Record], now: datetime) -> list[dict[str, Any]]:
    """Of records that a session is to have no more, those that wait: it does not show them."""
    return [{"left_out_at": now.isoformat(), **one} for one in waiting(records)]


def shown(records: Sequence[Record]) -> tuple[Record, ...]:
    """Those that the session has."""
    return tuple(one for one in records if not one.get("left_out_at"))


def still_waiting(records: Sequence[Record], handled: Sequence[Record]) -> frozenset[str]:
    """The ids of those among `handled` that wait, and say the same."""
    said = {one["id"]: _says(one) for one in handled}
    return frozenset(one["id"] for one in waiting(records) if said.get(one["id"]) == _says(one))


def marked(records: Sequence[Record], marks: Mapping[str, Record]) -> list[dict[str, Any]]:
    """The records with the marks of their ids, less those that were left out and wait no more."""
    noted = [{**one, **marks.get(one["id"], {})} for one in records]
    left = {one["id"] for one in waiting(noted)}
    return [one for one in noted if one["id"] in left or not one.get("left_out_at")]


def _noted(given: Sequence[Record], before: Mapping[str, Record], now: datetime) -> Iterator[dict[str, Any]]:
    for one in given:
        identity = one.get("id") or new_ulid()
        known = before.get(identity)
        if known is not None and _says(known) == _says({**one, "id": identity}):
            yield {**one, "id": identity} | {
                name: known[name] for name in ("persisted_at", "refused_at", "recorded_at") if name in known
            }
        else:
            left = {} if known is None else {"persisted_at": None, "refused_at": None}
            yield {**one, "id": identity, "recorded_at": now.isoformat()} | left


def _says(record: Record) -> dict[str, Any]:
    """What counts of a record, however a client spells that there is nothing."""
    return {
        name: value for name, value in record.items() if name not in SERVERS and value not in (None, [], {})
    }
