"""A turn put together: what is known of it, what fits, what the session is told, and the account of it."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from episodic.access import note_access
from ledger.injections import Reason, mark_items
from recall.assembly.accounting import account
from recall.assembly.budget import Offer, Selection, newest_exchange, select
from recall.assembly.gather import Gathered, gather
from recall.assembly.render import message_of, render_memory
from recall.assembly.sorting import sort_out
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
    offer, chosen, left_out = _chosen(query, found)
    messages = _messages(offer, chosen)
    assembled = Assembled(
        messages=tuple(message.message() for message in messages),
        items=account(
            offer, chosen, left_out, found.told, unpaired=found.unpaired, further_slots=found.further_slots
        ),
        tokens=sum(map(estimate_tokens, messages)),
        stages=tuple(found.stages),
        query_used=found.query_used,
    )
    entered = _entered(caller, query, found, chosen, assembled, now)
    recalled = [UUID(one.id) for one in chosen.pieces if one.kind == "episode" and one.why == "recalled"]
    note_access(caller=caller, ids=recalled, now=now)
    return entered


def _chosen(query: AssembleQuery, found: Gathered) -> tuple[Offer, Selection, Sequence[tuple[Piece, Why]]]:
    """What is offered, what of it goes in, and what is not offered. Where turns do not fit, what tells of
    them is offered in their place."""
    turns = found.turns if "window" in query.include else []
    offer, left_out = _offer(query, found, turns, beside=turns, summary_due=found.summary_due)
    chosen = select(offer, query.token_budget)
    if len(chosen.turns) < len(turns):
        newest = newest_exchange(turns)
        offer, left_out = _offer(query, found, turns, beside=newest, summary_due=True)
        chosen = select(offer, query.token_budget)
    return offer, chosen, left_out


def _offer(
    query: AssembleQuery, found: Gathered, turns: Sequence[Turn], *, beside: Sequence[Turn], summary_due: bool
) -> tuple[Offer, Sequence[tuple[Piece, Why]]]:
    told = found.told if query.dedupe else {}
    done = sort_out(found, told, turns=beside, summary_due=summary_due)
    offer = Offer(query.text, query.system, done.offered, turns, done.summary, summary_due=summary_due)
    return offer, done.left_out


def _messages(offer: Offer, chosen: Selection) -> list[Turn]:
    systems = [text for text in (offer.system, render_memory(chosen.pieces)) if text]
    turns = map(message_of, chosen.turns)
    return [*(Turn(0, "system", text) for text in systems), *turns, Turn(0, "user", offer.query)]


def _variants(found: Gathered, chosen: Selection) -> dict[str, str]:
    """The setting of a trial, by the keys of what it has ranked."""
    if not found.variant:
        return {}
    ranked = [one for one in chosen.pieces if one.kind == "episode" and one.score is not None]
    return {one.key: found.variant for one in ranked}


def _reasons(chosen: Selection) -> dict[str, Reason]:
    """Why each of them is told, by its key; what was ranked, also by which place and score."""
    ranked = [one.key for one in chosen.pieces if one.key and one.score is not None]
    ranks = {key: place for place, key in enumerate(ranked, start=1)}
    return {one.key: Reason(ranks.get(one.key), one.score, one.why) for one in chosen.pieces if one.key}


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
                caller=caller,
                address=address,
                items=marks,
                now=now,
                answer=assembled,
                longest=LONGEST_KEPT,
                variants=_variants(found, chosen),
                query=query.text,
                reasons=_reasons(chosen),
            )
        except RedisAway:
            log.warning("assembly_without_redis: what the session is told is not entered")
            assembled = replace(assembled, stages=(*assembled.stages, Stage("enter", 0.0, "failed")))
        else:
            return assembled
    with scope(caller.tenant_id):
        idempotency.keep(assembled, user_id=found.user_id, longest=LONGEST_KEPT)
    return assembled
