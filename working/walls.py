"""What the isolation self-test tries at sessions: their keys in Redis, their log and their row.

Both tenants have a session of the same name, and one of their own. The decoy's is written last: if a key left
the tenant out, ours would answer what the decoy's says.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tenants.errors import Unavailable
from tenants.privacy.registry import Subject, handlers
from tenants.walls.attempts import Attempt
from tenants.walls.registry import Door
from tenants.walls.stage import LIFE_SECONDS, Ask, Planted, Stage, as_text
from working import activity, store
from working.events import append_events, list_events
from working.listing import list_sessions
from working.memory import put_fields, read_fields
from working.turns import read_window
from working.types import NewEvent, SessionAddress, SessionRef
from working.workspace import read_workspace

DOOR = "Sessions in Redis"
LISTED = 50
Read = Callable[[Planted, SessionAddress], object]


def session_door() -> Door:
    """Sessions by name, in lists, and as keys of a person."""
    about = (
        "The decoy's sessions are in Redis while the test lasts, one of them under the name of one of ours."
    )
    return Door(DOOR, about, _attempts, plant=_plant, around=_around)


def _plant(planted: Planted) -> None:
    event = NewEvent("user_message", planted.text, planted.now, role="user")
    with suppress(Unavailable):  # then nothing there is proved, and the rest is
        for session_id in (planted.session_id, planted.own):
            address, caller = SessionAddress(session_id, planted.user_id), planted.caller
            put_fields(
                caller=caller, address=address, data={"note": planted.text}, now=planted.now,
                ttl_seconds=LIFE_SECONDS,
            )  # fmt: skip
            append_events(caller=caller, address=address, events=[event], now=planted.now)


@contextmanager
def _around(stage: Stage) -> Iterator[None]:
    both = (stage.ours, stage.decoy)
    names = [(user, name) for user in (stage.ours.user_id, "") for name in _names(both)]
    refs = [SessionRef(one.tenant_id, "", user, name) for one in both for user, name in names]
    try:
        yield
    finally:
        with suppress(Unavailable):  # they expire
            for ref in refs:
                store.forget(ref)
            activity.forget(refs)


def _names(both: tuple[Planted, Planted]) -> list[str]:
    return [both[0].session_id, *(one.own for one in both)]


def _attempts(stage: Stage) -> Iterator[Attempt]:
    for how, read in _READS.items():
        yield stage.tried(DOOR, "a session of our name", how, _reading(read, "session_id"))
        yield stage.tried(DOOR, "a session of another name", how, _reading(read, "own"))
    yield stage.tried(DOOR, "a session of another name", "read its data without its user", _without_user)
    yield stage.tried(DOOR, "all sessions", "list those of the person", _list)
    yield stage.tried(DOOR, "all keys", "scan for the person's", _scan)


def _reading(read: Read, named: str) -> Ask:
    def ask(asker: Planted, owner: Planted) -> object:
        return read(asker, SessionAddress(getattr(owner, named), owner.user_id))

    return ask


def _fields(asker: Planted, address: SessionAddress) -> object:
    found = read_fields(caller=asker.caller, address=address, now=asker.now)
    return found.data if found else ""


def _window(asker: Planted, address: SessionAddress) -> object:
    return read_window(caller=asker.caller, address=address, now=asker.now).window.turns


def _events(asker: Planted, address: SessionAddress) -> object:
    return as_text(list_events(caller=asker.caller, address=address, event_types=(), after=0, limit=LISTED))


def _whole(asker: Planted, address: SessionAddress) -> object:
    found = read_workspace(caller=asker.caller, address=address, now=asker.now)
    return "" if found is None else f"{found.messages} {found.data}"


_READS: dict[str, Read] = {
    "read its data": _fields,
    "read its window": _window,
    "read its log": _events,
    "read it as a whole": _whole,
}


def _without_user(asker: Planted, owner: Planted) -> object:
    return _fields(asker, SessionAddress(owner.own))


def _list(asker: Planted, owner: Planted) -> object:
    found = list_sessions(caller=asker.caller, limit=LISTED, user_id=owner.user_id)
    return [(asker if one.tenant_id == asker.tenant_id else owner).secret for one in found]


def _scan(asker: Planted, owner: Planted) -> object:
    subject = Subject(asker.tenant_id, owner.user_id, asker.now)
    return list(handlers()["session_key"].export(subject))
