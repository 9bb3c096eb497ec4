"""What this app holds of a person: sessions with their logs and checkpoints, and their copies in Redis."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from django.db.models import Exists, Min, OuterRef, Q

from tenants.privacy.mentions import forms_of, names_of
from tenants.privacy.registry import Keys, Record, Rows, Subject, find_sessions_by, register
from tenants.scope import scope
from working import activity, keys, redis, store
from working.entries import parse_entry
from working.idle import find_sessions
from working.memory import decode
from working.models import Checkpoint, Event, Session, SessionState
from working.types import SessionRef, Turn
from working.unlogged import without_logged

SESSIONS_AT_ONCE = 100
HASHES_AT_ONCE = 1_000
OWNER, ENTITIES = "user_id", "entities"  # AEGIS fields that say whose a session is
KAOS_MOMENTS = ("let_go_at", "emptied_at", "placed_at")
ANEW = [
    *("started_at", "opened_at", "turn_count", "message_count", "summary", "summary_at", "lead", "metadata"),
    *KAOS_MOMENTS,
]
FAMILIES = (keys.fields, keys.meta, keys.turns, keys.summary)


def keys_of_person(
    subject: Subject, families: tuple[Callable[[SessionRef], str], ...]
) -> Iterator[tuple[str, SessionRef]]:
    """The keys of these families that belong to the person's sessions, each with its session."""
    for key in redis.scan_keys(f"*{keys.tags_of_person(subject.tenant_id, subject.user_id)}*"):
        ref = keys.find_tag(key)
        if ref is not None and key in {family(ref) for family in families}:
            yield key, ref
    for ref in _refs(subject):
        for family in families:
            yield family(ref), ref


def _refs(subject: Subject) -> list[SessionRef]:
    return [SessionRef(subject.tenant_id, namespace, "", name) for namespace, name in subject.sessions]


def sessions_saying(subject: Subject) -> Iterator[tuple[str, str]]:
    """Namespace and id of sessions without a user whose AEGIS fields say that they are this person's, and
    nobody else's: an agent that knows no users by their path puts them there."""
    names, forms = set(names_of(subject)), forms_of(subject)
    refs = (ref for _key, ref in keys_of_person(replace(subject, user_id="", sessions=()), (keys.fields,)))
    while some := list(islice(refs, HASHES_AT_ONCE)):
        for ref, values in zip(some, store.peek_some(refs=some, names=(OWNER, ENTITIES)), strict=True):
            if not any(form in value for value in values.values() for form in forms):
                continue
            owners = owners_of(values)
            if owners and owners <= names:
                yield ref.namespace, ref.session_id


def owners_of(fields: Mapping[str, str]) -> set[str]:
    """Whose the AEGIS fields say the session is: `user_id`; else the users among `entities`, which is a list
    of them with type and id, or says `user`."""
    data = {name: decode(value) for name, value in fields.items()}
    if owner := _id_of(data.get(OWNER)):
        return {owner}
    entities = data.get(ENTITIES)
    if isinstance(entities, dict):
        users = [entities.get("user"), entities.get("user_id")]
    else:
        listed = [one for one in entities if isinstance(one, dict)] if isinstance(entities, list) else []
        users = [one for one in listed if str(one.get("type")).lower() == "user"]
    return {owner for owner in map(_id_of, users) if owner}


def _id_of(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("id")
    is_id = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if is_id else ""


def began_after(text: str, microseconds: int) -> bool:
    """Whether the life in Redis of the session that a key or member names began after that moment."""
    ref = keys.find_tag(text)
    life = redis.read_field(keys.meta(ref), "life") if ref else None
    return life is not None and int(life) > microseconds


def of_sessions(subject: Subject, column: str) -> Q:
    """Rows of the person, and those without a user of the sessions that say they are the person's; `column`
    has the client's id of the session."""
    found = Q(user_id=subject.user_id)
    for namespace, name in subject.sessions:
        found |= Q(user_id="", namespace=namespace, **{column: name})
    return found


def _theirs(subject: Subject) -> Q:
    return of_sessions(subject, "external_id")


def _of_sessions(subject: Subject) -> Q:
    mine = Session.objects.filter(_theirs(subject), tenant_id=subject.tenant_id)
    return Q(session_id__in=mine.values("id"))


def _used_since(subject: Subject) -> Q:
    """Sessions of which anything came in later. `last_activity_at` counts reading, too."""
    mine = {"tenant_id": subject.tenant_id, "session_id": OuterRef("id")}
    return (
        Q(Exists(Event.objects.filter(**mine, recorded_at__gt=subject.until)))
        | Q(Exists(Checkpoint.objects.filter(**mine, updated_at__gt=subject.until)))
        | Q(Exists(SessionState.objects.filter(**mine, updated_at__gt=subject.until)))
    )


def _begin_anew(subject: Subject) -> int:
    """Sessions that the person went on with after the erasure was asked for begin with what came since."""
    old = Session.objects.filter(_theirs(subject), tenant_id=subject.tenant_id, started_at__lte=subject.until)
    locked = list(old.select_for_update().values_list("id", flat=True)[:SESSIONS_AT_ONCE])
    used = list(old.filter(_used_since(subject), id__in=locked))
    for session in used:
        mine = {"tenant_id": session.tenant_id, "session_id": session.id}
        events, since = Event.objects.filter(**mine), {"recorded_at__gt": subject.until}
        moments = [
            events.filter(**since).aggregate(first=Min("recorded_at"))["first"],
            Checkpoint.objects.filter(**mine).aggregate(first=Min("updated_at"))["first"],
            SessionState.objects.filter(**mine).aggregate(first=Min("updated_at"))["first"],
        ]
        session.started_at = min(moment for moment in moments if moment and moment > subject.until)
        session.opened_at = max(session.started_at, session.opened_at)
        session.turn_count = session.logged_turns().filter(**since).count()
        session.message_count, session.summary, session.lead, session.metadata = None, "", "", {}
        session.summary_at = None
        for moment in KAOS_MOMENTS:  # its new life has none of them yet
            setattr(session, moment, None)
        session.save(update_fields=ANEW)
    return len(used)


def _export_fields(subject: Subject) -> Iterator[Record]:
    """The AEGIS hashes."""
    for key, ref in keys_of_person(subject, (keys.fields,)):
        values = redis.read_hash(key)
        if values:
            data: dict[str, Any] = {name: decode(value) for name, value in values.items()}
            yield {
                "kind": "working_memory",
                "session_id": ref.session_id,
                "namespace": ref.namespace,
                "user_id": ref.user_id,
                "data": data,
            }


def _export_keys(subject: Subject) -> Iterator[Record]:
    """What is in Redis alone."""
    yield from _export_fields(subject)
    for key, ref in keys_of_person(subject, (keys.turns,)):
        held = [parse_entry(entry) for entry in redis.read_list(key)]
        for turn in _unlogged(ref, held):
            owner = {"session_id": ref.session_id, "namespace": ref.namespace, "user_id": ref.user_id}
            yield {"kind": "turn", **owner, "seq": turn.seq, **turn.message()}


def _unlogged(ref: SessionRef, held: Sequence[Turn]) -> Sequence[Turn]:
    for session in find_sessions(tenant_id=ref.tenant_id, refs=[ref]):
        with scope(ref.tenant_id):
            return without_logged(session=session, turns=held)
    return held


def _erase_keys(subject: Subject) -> int:
    """Everything, also what was written since: a hash does not tell when its fields were."""
    found = list(keys_of_person(subject, FAMILIES))
    removed = redis.delete_keys([key for key, _ref in found])
    activity.forget(_refs(subject))
    return removed + activity.forget_person(tenant_id=subject.tenant_id, user_id=subject.user_id)


def register_handlers() -> None:
    """Called once the models are loaded."""
    find_sessions_by(sessions_saying)
    register(
        Rows(
            "event",
            Event,
            _of_sessions,
            "recorded_at",
            grouped="session_id",
            hidden=frozenset({"recorded_in"}),  # a number of PostgreSQL's
        ),
        Rows("checkpoint", Checkpoint, _of_sessions, "updated_at"),
        Rows("session_state", SessionState, _of_sessions, "updated_at", hidden=frozenset({"stamps"})),
        Rows(
            "session",
            Session,
            _theirs,
            "started_at",
            kept=_used_since,
            rest=_begin_anew,
            hidden=frozenset({"project_key"}),  # the project once more
        ),
        Keys("session_key", (*FAMILIES, keys.IDLE), _erase_keys, _export_keys, newer=began_after),
    )
