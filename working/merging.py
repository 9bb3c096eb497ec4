"""What becomes of a session's messages when a client sends all of them anew. Pure.

Others may have added some since the client read them. So the client's list is taken for what it changed: what
it carries stays, what is new in it comes in, and what it lacks goes, unless it came after the client read.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from working.window import first_that_fits, tokens_of


@dataclass(frozen=True, slots=True)
class Held:
    """A message as it is stored. `received_at` is the server's moment."""

    seq: int
    id: str
    role: str
    content: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Given:
    """A message as a client sends it; without an id, it is the one that says the same, or a new one."""

    id: str | None
    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The numbers of the messages that are withdrawn, and those that are added after the newest, in order:
    the place in the client's list of a new or changed one, or one that is held and comes again, since its
    place among the others is another."""

    withdrawn: tuple[int, ...]
    added: tuple[int | Held, ...]

    def placed(self, places: Sequence[int]) -> "Plan":
        """The same of a list of which only the messages at `places` were merged."""
        added = tuple(one if isinstance(one, Held) else places[one] for one in self.added)
        return Plan(self.withdrawn, added)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A place in the client's list, with the held message that it is about; or a held one that it lacks."""

    place: int | None
    held: Held | None
    stays: bool  # as it is


def merge(
    *,
    held: Sequence[Held],
    given: Sequence[Given],
    read_at: datetime | None,
) -> Plan:
    """What to do to `held`, in order, so that it becomes what the client wants.

    `read_at`: the moment of the change that the client has seen last; what came later and is not in its list
    stays, behind the message that it came after. None: its list is all there shall be. Of two with one id the
    last counts, in the place of the first.
    """
    places = once_each([one.id for one in given])
    if len(places) < len(given):
        return merge(held=held, given=[given[at] for at in places], read_at=read_at).placed(places)
    same = _same_beginning(held, given)
    rest = held[same:]
    wanted = _wanted(rest, given[same:], read_at)
    staying = {one.held.seq for one in wanted if one.stays and one.held is not None}
    left = [one for one in rest if one.seq in staying]
    common = _common(left, [one.held if one.stays else None for one in wanted])
    kept = {one.seq for one in left[:common]}
    return Plan(
        withdrawn=tuple(one.seq for one in rest if one.seq not in kept),
        added=tuple(_added(wanted[common:], same)),
    )


def unshown(*, held: Sequence[Held], given: Sequence[Given], window: int, read_at: datetime | None) -> int:
    """How many of the held messages, from the first, a reading with a window of so many tokens has left out,
    if the client's list begins where that did: it lacks them without having seen them.

    The newest that was read is the last one from before `read_at`, None: of all, or the last one that the
    client sends back: of a client that makes a new object, that moment is not known.
    """
    sizes = [tokens_of(len(one.content)) for one in held]
    ids = {one.id for one in given}
    before = sum(read_at is None or one.received_at <= read_at for one in held)
    last = max((place for place, one in enumerate(held, 1) if one.id in ids), default=0)
    for end in (before, last):
        first = first_that_fits(sizes[:end], window)
        if first and given and _is_same(given[0], held[first]):
            return first
    return 0


def once_each(ids: Sequence[str | None]) -> list[int]:
    """The places of messages with these ids: of those with the same the last, in the place of the first."""
    places: dict[str | int, int] = {}
    for place, one in enumerate(ids):
        places[place if one is None else one] = place
    return list(places.values())


def _same_beginning(held: Sequence[Held], given: Sequence[Given]) -> int:
    """How many messages, from the first, are those that are held, as they are: mostly nearly all."""
    for number, (one, sent) in enumerate(zip(held, given, strict=False)):
        if (one.id, one.role, one.content) != (sent.id, sent.role, sent.content):
            return number
    return min(len(held), len(given))


def _added(wanted: Sequence[_Wanted], same: int) -> Iterator[int | Held]:
    for one in wanted:
        if one.stays and one.held is not None:
            yield one.held
        elif one.place is not None:
            yield one.place + same


def _common(left: Sequence[Held], wanted: Sequence[Held | None]) -> int:
    """How many of both, from the beginning, are the same."""
    for number, (one, other) in enumerate(zip(left, wanted, strict=False)):
        if one is not other:
            return number
    return min(len(left), len(wanted))


def _wanted(held: Sequence[Held], given: Sequence[Given], read_at: datetime | None) -> list[_Wanted]:
    carried = _carried(held, given)
    later = _later(held, {one.seq for one in carried.values()}, read_at)
    wanted = [_Wanted(None, one, stays=True) for one in later.get(0, ())]
    for place, one in enumerate(given):
        known = carried.get(place)
        same = known is not None and (known.role, known.content) == (one.role, one.content)
        wanted.append(_Wanted(place, known, stays=same))
        wanted += [_Wanted(None, other, stays=True) for other in later.get(known.seq if known else -1, ())]
    return wanted


def _carried(held: Sequence[Held], given: Sequence[Given]) -> dict[int, Held]:
    """By places in the client's list, the held messages that stand there: by id, else the next that says the
    same and is not named, or the first."""
    by_id = {one.id: one for one in held}
    named = {one.id for one in given}
    unnamed: dict[tuple[str, str], list[Held]] = {}
    for one in held:
        if one.id not in named:
            unnamed.setdefault((one.role, one.content), []).append(one)
    carried: dict[int, Held] = {}
    before = 0
    for place, sent in enumerate(given):
        if sent.id is not None:
            found = by_id.get(sent.id)
        else:
            found = _taken(unnamed.get((sent.role, sent.content), []), before)
        if found is not None:
            carried[place], before = found, found.seq
    return carried


def _is_same(sent: Given, one: Held) -> bool:
    """Whether it is that message, though perhaps it says something else now."""
    return sent.id == one.id if sent.id is not None else (sent.role, sent.content) == (one.role, one.content)


def _taken(same: list[Held], before: int) -> Held | None:
    """The first that stands behind that number, else the first; it is in the list no more."""
    if not same:
        return None
    place = next((at for at, one in enumerate(same) if one.seq > before), 0)
    return same.pop(place)


def _later(held: Sequence[Held], carried: Collection[int], read_at: datetime | None) -> dict[int, list[Held]]:
    """The held messages that came after the client had read and that it lacks, by the number of the one that
    it carries before them; 0: before all."""
    later: dict[int, list[Held]] = {}
    before = 0
    for one in held:
        if one.seq in carried:
            before = one.seq
        elif read_at is not None and one.received_at > read_at:
            later.setdefault(before, []).append(one)
    return later
