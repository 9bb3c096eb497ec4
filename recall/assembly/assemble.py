"""A turn put together: what is known of it, what fits, what the session is told, and the account of it."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ledger.injections import mark_items
from recall.assembly.accounting import account
from recall.assembly.budget import Offer, Selection, select
from recall.assembly.gather import Gathered, gather
from recall.assembly.likeness import Seen
from recall.assembly.pieces import within_size
from recall.assembly.render import render_memory
from recall.assembly.types import TOLD_PARTS, Assembled, AssembleQuery, Piece, Why
from recall.stages import Stage
from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import Forbidden
from tenants.scope import scope
from working.redis import RedisAway
from working.sessions import open_session
from working.types import Turn
from working.window import estimate_tokens

log = logging.getLogger(__name__)
LONGEST_KEPT = 65_536  # characters of an answer: it shows memories, of which it would keep a copy


def assemble(*, caller: Caller, query: AssembleQuery, now: datetime) -> Assembled:
    """The messages for the next call of a chat API: the caller's system message, one with what is remembered,
    the window, the query. What the session is told is entered in its ledger, in one commit; a session that is
    not there yet begins with that.

    Raises Forbidden for a key that may not write when there may be something to enter.
    """
    if query.include & TOLD_PARTS and not caller.may("write"):
        raise Forbidden("To enter what a session is told needs a key with scope write.")
    found = gather(caller=caller, query=query, now=now)
    offered, left_out = _sorted_out(found, found.told if query.dedupe else {})
    offer = Offer(
        query=query.text,
        system=query.system,
        pieces=offered,
        turns=found.turns if "window" in query.include else (),
        summary=found.summary,
        summary_due=found.summary_due,
    )
    chosen = select(offer, query.token_budget)
    messages = _messages(offer, chosen)
    assembled = Assembled(
        messages=tuple(message.message() for message in messages),
        items=account(offer, chosen, left_out, found.told),
        tokens=sum(map(estimate_tokens, messages)),
        stages=tuple(found.stages),
        query_used=found.query_used,
    )
    return _entered(caller, query, found, chosen, assembled, now)


def _sorted_out(found: Gathered, told: Mapping[str, str]) -> tuple[list[Piece], list[tuple[Piece, Why]]]:
    """What is offered, by its worth; and what is not, with the reason. Of the episodes, those are looked at
    that it takes to find as many as are wanted."""
    data, oversized = within_size(found.data)
    left_out: list[tuple[Piece, Why]] = [(piece, "size") for piece in oversized]
    offered: list[Piece] = []
    for piece in (*found.procedures, *data, *found.slots):
        if _is_told(piece, told):
            left_out.append((piece, "told"))
        else:
            offered.append(piece)
    seen, wanted = Seen(), found.top_k
    if found.summary and found.summary_due:
        seen.add(found.summary.plain)
    for piece in found.episodes:
        if not wanted:
            break
        if not seen.add(piece.plain):
            left_out.append((piece, "duplicate"))
        elif _is_told(piece, told):
            left_out.append((piece, "told"))
        else:
            offered.append(piece)
            wanted -= 1
    return offered, left_out


def _is_told(piece: Piece, told: Mapping[str, str]) -> bool:
    return bool(piece.key) and told.get(piece.key) == piece.state


def _messages(offer: Offer, chosen: Selection) -> list[Turn]:
    systems = [text for text in (offer.system, render_memory(chosen.pieces)) if text]
    return [*(Turn(0, "system", text) for text in systems), *chosen.turns, Turn(0, "user", offer.query)]


def _entered(
    caller: Caller,
    query: AssembleQuery,
    found: Gathered,
    chosen: Selection,
    assembled: Assembled,
    now: datetime,
) -> Assembled:
    """The answer, once what it tells is in the ledger. With Redis away nothing is entered: the session is
    told all the same, and may be told again."""
    marks = {piece.key: piece.state for piece in chosen.pieces if piece.key}
    address = found.address
    if marks and not found.redis_away:
        if found.session is None:
            open_session(caller=caller, address=address, now=now, agent_id=query.agent_id)
        try:
            mark_items(
                caller=caller, address=address, items=marks, now=now, answer=assembled, longest=LONGEST_KEPT
            )
        except RedisAway:
            log.warning("assembly_without_redis: what the session is told is not entered")
            assembled = replace(assembled, stages=(*assembled.stages, Stage("enter", 0.0, "failed")))
        else:
            return assembled
    with scope(caller.tenant_id):
        idempotency.keep(assembled, user_id=found.user_id, longest=LONGEST_KEPT)
    return assembled
