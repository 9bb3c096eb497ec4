"""Putting items into the store: what they say is judged before any of them is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from episodic.item_text import text_of
from episodic.item_types import ItemName, NewItem
from episodic.item_writing import prepare_items, write_items
from ledger.decisions import Refused, note_decision
from ledger.models import WriteDecision
from recall.gate import Verdict, judge
from screening.values import mask_value, told
from tenants import idempotency
from tenants.caller import Caller
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.tombstones import Erased, last_erasures

ItemWrite = NewItem | ItemName  # a name by itself: that item is deleted


@dataclass(frozen=True, slots=True)
class SavedItems:
    """What became of writes: nothing of it if some are `refused`, by their places among them, with the
    decisions that say why."""

    refused: tuple[tuple[int, WriteDecision], ...] = ()


def save_items(*, caller: Caller, writes: Sequence[ItemWrite], now: datetime) -> SavedItems:
    """Puts and deletes items in one commit; of several writes of one item the last counts. Values are masked
    if the policy says so. If one may not be remembered, nothing is done but to note it: an item is not held
    for somebody to confirm, since it may have been put again by then. Names are not judged, like ids.

    Raises TooLarge, Erased and Restricted, and Conflict for what is out of the key's reach."""
    last = {_name(one): (place, one) for place, one in enumerate(writes)}
    judged = [(place, *_judged(caller, one)) for place, one in last.values() if isinstance(one, NewItem)]
    refused = [
        (place, one, verdict) for place, one, verdict in judged if verdict.action in ("hold", "refuse")
    ]
    puts = [] if refused else [one for _place, one, _verdict in judged]
    prepared = prepare_items(caller=caller, items=puts, now=now)
    people = {name.whose.user_id for name in last}
    with scope(caller.tenant_id):
        if refused:
            _refuse_erased(caller, people, now)
            noted = ((place, _note(caller, one, verdict, now)) for place, one, verdict in refused)
            done = SavedItems(tuple(noted))
        else:
            deleted = [one for _place, one in last.values() if isinstance(one, ItemName)]
            write_items(caller=caller, prepared=prepared, deleted=deleted, now=now)
            done = SavedItems()
        idempotency.keep(done, user_id=people.pop() if len(people) == 1 else "")
    return done


def _name(one: ItemWrite) -> ItemName:
    return one.name if isinstance(one, NewItem) else one


def _judged(caller: Caller, item: NewItem) -> tuple[NewItem, Verdict]:
    """The item as it may be put, by the policy of its agent."""
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=item.name.whose.agent_id)
    verdict = judge(told(item.value), policy=policy)
    return (replace(item, value=mask_value(item.value)) if verdict.action == "redact" else item), verdict


def _note(caller: Caller, item: NewItem, verdict: Verdict, now: datetime) -> WriteDecision:
    whose = item.name.whose
    # What is nobody's may be kept under a person's name, by which no decision is found: without the text.
    text = text_of(item.value, None) if whose.user_id else ""
    return note_decision(
        caller=caller,
        session_id="",
        user_id=whose.user_id,
        agent_id=whose.agent_id,
        project=whose.project,
        refused=Refused(
            kind="episode",
            reason=verdict.reason,
            text=text,
            findings=verdict.findings,
        ),
        now=now,
    )


def _refuse_erased(caller: Caller, people: set[str], now: datetime) -> None:
    users = people - {""}
    erased = last_erasures(tenant_id=caller.tenant_id, user_ids=users) if users else {}
    if any(moment >= now for moment in erased.values()):
        raise Erased("This person's memory was erased meanwhile.")
