"""Is it writing, an end, or retrieval? Pure."""

from dataclasses import dataclass
from typing import Literal

from ..moments import moment, parsed, span
from ..texts import clean, cut
from .evidence import Decision, Evidence, Memory, Question, Search, Talk

Fault = Literal["none", "unsure", "server", "key", "restricted", "write", "ttl", "retrieval"]
QUOTED = 160  # columns of a memory in a sentence


@dataclass(frozen=True, slots=True)
class Verdict:
    """One plain sentence, and what to do next."""

    fault: Fault
    sentence: str
    next_step: str


ADVICE = {
    "low_confidence": "lower entities.min_confidence in the policy, or have it said more plainly",
    "allowlist": "add its key to entities.allowed_keys in the policy",
    "blocklist": "see sensitive.* in the policy",
    "injection": "look at who wrote it: it reads like an order to the agent",
    "outdated": "have it said again if it still holds",
    "not_memorable": "write it on purpose: POST /api/v1/episodes",
    "injected": "nothing: it was told to the agent, and came back as if it were new",
    "policy": "see write.* in the policy",
    "limit": "see limits.* in the policy",
    "conflict": "send it under another id: this one stands for another agent's memory",
    "invalid": "look at what the client sends with the session",
    "pinned": "unpin the other value, or confirm this one",
    "unconfirmed": "confirm the value that is right",
}


def judge(question: Question, found: Evidence) -> Verdict:
    """The first of these that holds: the server cannot, the person is restricted, it is remembered and found
    or not, it waits, has ended or was refused, was said and went, something is like it, or it was never
    written."""
    if found.status == "unavailable":
        away = ", ".join(name for name, state in found.checks.items() if state != "ok")
        return Verdict(
            "server", f"The server is not ready: {away}.", "See its log; /ready says what is missing."
        )
    if found.restricted:
        return Verdict(
            "restricted",
            "This person's memory is restricted: it is kept and not used.",
            "Whoever may (scope privacy) lifts it: DELETE /api/v1/subjects/{user_id}/restrict.",
        )
    if found.held is not None:
        return _remembered(question, found, found.held)
    return _absent(question, found)


def _remembered(question: Question, found: Evidence, memory: Memory) -> Verdict:
    search, talk = found.search, found.talk
    if search is None:
        return Verdict("retrieval", "It is remembered, and recall could not be asked.", "See /ready.")
    if not search.is_told:
        return _slot(memory, search) if memory.kind == "entity" else _not_recalled(question, memory, search)
    if talk is not None and talk.told_at:
        return Verdict(
            "none",
            f"{quoted(memory.text)} is remembered and recalled at rank {search.rank}; this session was told "
            f"it on {moment(talk.told_at)}, so assemble leaves it out.",
            'If the agent keeps no history of its own, it sends "dedupe": false to /api/v1/assemble.',
        )
    return Verdict(
        "none",
        f"{quoted(memory.text)} is remembered, and recall brings it at rank {search.rank}.",
        "If the agent does not say it, look at the prompt: strata context QUERY --session ID; "
        "and ask as it asks: --query, --agent.",
    )


def _slot(memory: Memory, search: Search) -> Verdict:
    rank = (
        f"recall alone brings it at rank {search.rank}" if search.rank else "recall alone does not bring it"
    )
    return Verdict(
        "none",
        f"{quoted(memory.text)} is remembered, a slot: assemble and the start of a session tell it; {rank}.",
        "If the agent uses recall alone, have it ask for kind entity with more results; "
        f"of more than 200 slots, pin it: POST /api/v1/entities/{{user_id}}/{memory.key}/pin",
    )


def _not_recalled(question: Question, memory: Memory, search: Search) -> Verdict:
    if search.rank is not None:
        return Verdict(
            "retrieval",
            f"It is remembered, but comes at rank {search.rank}, and {search.usual} are told.",
            f"Raise recall.top_k (or ask with top_k {search.rank}), or ask with the whole question.",
        )
    if question.agent_id and memory.agent_id != question.agent_id:
        whose = f"agent {memory.agent_id}" if memory.agent_id else "no agent"
        return Verdict(
            "retrieval",
            f"It is remembered of {whose}, and asked for as agent {question.agent_id}.",
            "Ask without the agent, or write it as the agent that asks.",
        )
    if not memory.embedded:
        return Verdict(
            "retrieval",
            "It is remembered, and its vector is still being made: its words find it, its meaning does not.",
            "Wait for the worker (episodes_embed_pending at /metrics), or see whether it runs: /ready.",
        )
    if search.broken:
        return Verdict(
            "retrieval",
            f"It is remembered, and recall could not look everywhere: {', '.join(search.broken)}.",
            "See /ready: without the embedding model nothing is found by its meaning.",
        )
    return Verdict(
        "retrieval",
        f"It is remembered, and not among the {search.looked_at} that recall finds for this question.",
        "Ask with words of the fact itself: strata recall QUERY --explain shows what each score is made of.",
    )


def _absent(question: Question, found: Evidence) -> Verdict:
    """Why no memory that holds says it: what is certain first, then what is only like it."""
    return _certain(found) or _alike(found) or _gone(found) or _never(question, found)


def _certain(found: Evidence) -> Verdict | None:
    """What became of that which said the very fact."""
    told = [one for one in found.memories if one.says]
    waiting = next((one for one in told if one.state in {"pending", "not yet"}), None)
    if waiting is not None:
        return _waits(waiting)
    ended = next(iter(told), None)
    refused = next((one for one in found.decisions if one.says and one.reason != "duplicate"), None)
    if ended is not None and not (refused is not None and _is_later(refused, ended)):
        return _ended(ended)
    if refused is not None:
        return _refused(refused)
    return None if found.talk is None else _in_talk(found, found.talk)


def _is_later(refused: Decision, ended: Memory) -> bool:
    at, end = parsed(refused.created_at), parsed(ended.ended_at)
    return at is not None and (end is None or at > end)


def _alike(found: Evidence) -> Verdict | None:
    """What words or meaning bring near the fact: whether it is meant, only a reader can tell."""
    memory = found.alike
    if memory is not None:
        about = (
            "Something like it is remembered" if memory.state == "holds" else "Something like it was written"
        )
        measured = f"cosine {memory.share:.2f}" if memory.by_meaning else f"{memory.share:.0%} of its words"
        return Verdict(
            "unsure",
            f"{about} ({measured}): {quoted(memory.text)}. Whether that is what you mean, look. "
            + (_brings(found.search) if memory.state == "holds" else f"It is {memory.state}."),
            "If it is, ask again with its own words, which tells the rest. "
            "If it is not, nothing says the fact: strata remember TEXT --user ID writes it.",
        )
    decision = next((one for one in found.decisions if one.reason != "duplicate"), None)
    if decision is None:
        return None
    refused = _refused(decision)
    return Verdict(
        "unsure",
        f"No memory says it, and a write that may have been of it {_did(decision)} on "
        f"{moment(decision.created_at)} ({decision.reason}): {quoted(decision.text)}. Whether that is what "
        "you mean, look.",
        f"If it is: {refused.next_step}",
    )


def _brings(search: Search | None) -> str:
    if search is None:
        return "Recall could not be asked."
    if search.rank is None:
        return f"It is not among the {search.looked_at} that recall finds for the question."
    return f"Recall brings it at rank {search.rank}" + (
        "." if search.is_told else f", and {search.usual} are told."
    )


def _gone(found: Evidence) -> Verdict | None:
    """Where it may have been: nobody can look there any more."""
    if found.erased_at:
        return Verdict(
            "unsure",
            f"No memory says it, and this person was erased on {moment(found.erased_at)}: if it was known "
            "before, it went then.",
            "What was there does not come back; say it again if it holds.",
        )
    if found.talk is None or found.talk.first is None or found.talk.first == 1:
        return None
    days = found.limit("retention", "events_days")
    return Verdict(
        "unsure",
        f"No memory says it, and the session's log begins with event {found.talk.first}: what was said "
        "before has gone" + (f" (retention.events_days is {days})." if days else "."),
        "Raise retention.events_days; what has to last belongs in a slot or an episode.",
    )


def _waits(memory: Memory) -> Verdict:
    if memory.state == "not yet":
        return Verdict(
            "write", f"It was written, and holds only from {moment(memory.ended_at)}.", "Ask with as_of then."
        )
    return Verdict(
        "write",
        f"It was written to the slot {memory.key}, and waits for somebody to confirm it.",
        f"POST /api/v1/entities/{{user_id}}/{memory.key}/confirm",
    )


def _ended(memory: Memory) -> Verdict:
    how = {"superseded": "another took its place", "trashed": "somebody deleted it"}.get(
        memory.state, "somebody took it back"
    )
    when = f" on {moment(memory.ended_at)}" if memory.ended_at else ""
    history = (
        f"GET /api/v1/entities/{{user_id}}/{memory.key}/history"
        if memory.kind == "entity"
        else f"GET /api/v1/episodes/{memory.id}/history"
        if memory.kind == "episode"
        else f"POST /api/v1/observations/{memory.id}/restore"
    )
    return Verdict("ttl", f"It was written, and ended{when}: {how}.", f"{history}; say it again if it holds.")


def _did(decision: Decision) -> str:
    return {"held": "was held back", "rejected": "was rejected"}.get(decision.outcome, "was refused")


def _refused(decision: Decision) -> Verdict:
    confirm = f"POST /api/v1/write-decisions/{decision.id}/confirm writes it after all; or "
    return Verdict(
        "write",
        f"It was never written: it {_did(decision)} on {moment(decision.created_at)} ({decision.reason}), as "
        f"{quoted(decision.text)}.",
        (confirm if decision.confirmable else "") + ADVICE.get(decision.reason, "see the write decision"),
    )


def _in_talk(found: Evidence, talk: Talk) -> Verdict | None:
    """What the session says, if it explains anything."""
    if talk.is_in_window:
        return Verdict(
            "none",
            "It was said in this session and stands in its window, though nothing remembers it beyond.",
            "To keep it after the session: POST /api/v1/remember, or end the session.",
        )
    if talk.said_at:
        return Verdict(
            "ttl", _left_window(found, talk), "End the session, or call /api/v1/remember for its turns."
        )
    return None


def _left_window(found: Evidence, talk: Talk) -> str:
    ttl = found.limit("session", "ttl_seconds")
    idle = (
        f"; the session has been idle for {span(talk.idle_seconds)}"
        if ttl and talk.idle_seconds > ttl
        else ""
    )
    said = f"It was said (event {talk.said_at[-1]}) and has left the session's window"
    return f"{said}, and nothing made it a memory{idle}."


def _never(question: Question, found: Evidence) -> Verdict:
    where = ""
    if found.talk is not None and not found.talk.is_there:
        where = f" There is no session {question.session_id} either."
    may = "" if "write" in found.scopes else " with a key that has scope write"
    nothing = "there is no memory"
    if found.looked_through:
        nothing = f"none of {found.looked_through} memories that were looked through says it or is like it"
    return Verdict(
        "write",
        f"As far as can be seen it was never written: {nothing}, and no such write was refused.{where}",
        "Does the agent call /api/v1/remember, or end its sessions, or is write.on_turn on? To write it now"
        f"{may}: strata remember TEXT --user ID",
    )


def quoted(text: str) -> str:
    """What a memory says, in one line that is not too long."""
    return f'"{cut(clean(text), QUOTED)}"'
