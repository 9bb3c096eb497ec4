"""Say why something is not known: was it never written, has it ended, or is it not found?

It writes nothing. What has the very words of the expected fact counts as the fact; what is only like it is
shown, and "unsure" said. Name with --query what the agent really asks, and with --session and --agent where.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime

from ...client import StrataClient
from ...errors import ConnectionFailed, DeadlineExceeded, InvalidAnswer, Restricted, Unauthenticated
from ..explaining import scales
from ..moments import moment, span
from ..recall import figure, show_parts, stages_line
from ..statuses import AWAY, DONE, NOTHING, REFUSED, UNSURE, Usage, key_sentence, lacks_key, sentence_of
from ..tables import Column
from ..terminal import Terminal
from ..texts import clean
from . import gathering
from .evidence import Evidence, Memory, Question, Search
from .verdicts import Verdict, judge, quoted

STATUSES = {"none": DONE, "server": AWAY, "key": REFUSED, "unsure": UNSURE}
STYLES = {"ok": "good", "fault": "bad", "?": "doubt"}
FAULTS = {"none": ("No fault", "good"), "unsure": ("Unsure", "doubt")}
SHOWN = 3
MARGIN = 17  # columns of a check before its figures
Check = tuple[str, str, str]  # what, `ok`, `fault` or `?`, and the figures


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fact", metavar="FACT", help="what should be known")
    parser.add_argument("--user", metavar="ID", help="of whom; needed unless the key is a user's")
    parser.add_argument("--query", metavar="TEXT", help="what the agent asks (the fact itself)")
    parser.add_argument(
        "--session", metavar="ID", help="the conversation in which it was said, or is asked for"
    )
    parser.add_argument("--agent", metavar="ID", help="the agent that asks")


def run(client: StrataClient, arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Status 0 if there is no fault, 1 for one, 3 and 4 for a server or a key that does not serve, 5 for what
    is only like the fact."""
    if not arguments.fact.strip():
        raise Usage("The expected fact is not empty.")
    question = Question(
        fact=arguments.fact,
        query=arguments.query or arguments.fact,
        user_id=arguments.user,
        session_id=arguments.session,
        agent_id=arguments.agent,
        now=datetime.now(UTC),
    )
    evidence, verdict = examine(client, question)
    if arguments.json:
        looked_at = [] if evidence is None else list(checks(evidence))
        terminal.json(
            {
                "verdict": asdict(verdict),
                "checks": [
                    {"check": what, "state": state, "detail": told} for what, state, told in looked_at
                ],
                "evidence": None if evidence is None else asdict(evidence),
            }
        )
    else:
        _show(question, evidence, verdict, terminal)
    return STATUSES.get(verdict.fault, NOTHING)


def examine(client: StrataClient, question: Question) -> tuple[Evidence | None, Verdict]:
    """What was found out, None where nothing answers, and what follows from it."""
    try:
        evidence = gathering.ready(client)
    except (ConnectionFailed, DeadlineExceeded, InvalidAnswer) as error:
        advice = "Is it running (make run), and is the address right (--url, STRATA_URL)?"
        return None, Verdict("server", sentence_of(error), advice)
    if evidence.status == "unavailable":
        return evidence, judge(question, evidence)
    try:
        evidence = replace(evidence, scopes=gathering.scopes(client))
    except Unauthenticated as error:
        advice = "Make one" if lacks_key(error) else "Make another, or see when this one expired,"
        return evidence, Verdict("key", key_sentence(error), f"{advice} at /admin/.")
    if "read" not in evidence.scopes:
        return evidence, Verdict("key", "The key may not read.", "Use a key with scope read.")
    try:
        evidence = _gathered(client, question, evidence)
    except Restricted:
        evidence = replace(evidence, restricted=True)
    return evidence, judge(question, evidence)


def _gathered(client: StrataClient, question: Question, so_far: Evidence) -> Evidence:
    user = question.user_id
    restricted, erased_at = (None, None) if user is None else gathering.person(client, user)
    memories, looked_through = gathering.memories(client, question)
    if not any(one.says and one.state == "holds" for one in memories):
        memories = gathering.with_meant(client, question, memories)
    evidence = replace(
        so_far,
        restricted=restricted,
        erased_at=erased_at,
        policy=gathering.policy(client, question),
        looked_through=looked_through,
        memories=memories,
        decisions=gathering.decisions(client, question),
    )
    sought = evidence.sought
    search = gathering.search(client, question, sought)
    talk = gathering.talk(client, question, question.session_id, sought) if question.session_id else None
    return replace(evidence, search=search, talk=talk)


def checks(found: Evidence) -> Iterator[Check]:
    """Each thing that was looked at, as a line."""
    away = [name for name, state in found.checks.items() if state != "ok"]
    state = "fault" if found.status == "unavailable" else "?" if away else "ok"
    yield "server", state, f"{found.status}" + (f", away: {', '.join(away)}" if away else "")
    if found.status == "unavailable":
        return
    yield "key", "ok" if "read" in found.scopes else "fault", f"may {', '.join(found.scopes) or 'nothing'}"
    if found.search is None:
        if found.restricted:
            yield "person", "fault", "restricted"
        return
    yield from _of_person(found)
    yield from _of_writing(found)
    if found.talk is not None:
        yield _of_talk(found)
    yield _of_search(found)


def _of_person(found: Evidence) -> Iterator[Check]:
    if found.restricted is None:
        yield "person", "?", "restriction and erasures are seen with scope privacy"
    else:
        erased = f", erased on {moment(found.erased_at)}" if found.erased_at else ", never erased"
        yield (
            "person",
            "fault" if found.restricted else "ok",
            ("restricted" if found.restricted else "free") + erased,
        )


def _of_writing(found: Evidence) -> Iterator[Check]:
    for one in found.memories[:SHOWN]:
        yield _of_memory(one)
    if not found.memories:
        number = found.looked_through
        yield "memory", "fault", f"none of {number} says it or is like it" if number else "there is none"
    for decision in found.decisions[:SHOWN]:
        told = (
            f"{decision.outcome}, {decision.reason}, {moment(decision.created_at)}: {quoted(decision.text)}"
        )
        yield "decision", "fault" if decision.says and not found.held else "?", told


def _of_memory(one: Memory) -> Check:
    likeness = f"cosine {one.share:.2f}" if one.by_meaning else f"{one.share:.0%} of the words"
    says = "says it" if one.says else f"is like it ({likeness})"
    ended = f" since {moment(one.ended_at)}" if one.ended_at else ""
    state = "?" if not one.says else "ok" if one.state == "holds" else "fault"
    return "memory", state, f"{quoted(one.text)} {says}, {one.state}{ended}; {one.kind} {one.id}"


def _of_talk(found: Evidence) -> Check:
    talk = found.talk
    if talk is None or not talk.is_there:
        return "session", "fault", "there is none of this id"
    ttl = found.limit("session", "ttl_seconds")
    held = f" (Redis holds it for {span(ttl)})" if ttl else ""
    said = (
        f"said in event {', '.join(map(str, talk.said_at[-SHOWN:]))}"
        if talk.said_at
        else "not said in its log"
    )
    window = "in the window" if talk.is_in_window else "not in the window"
    told = f", told it on {moment(talk.told_at)}" if talk.told_at else ""
    return "session", "ok", f"idle for {span(talk.idle_seconds)}{held}, {said}, {window}{told}"


def _of_search(found: Evidence) -> Check:
    search = found.search
    if search is None or found.sought is None:
        return "recall", "?", "there is nothing to find"
    state = "ok" if search.is_told else "fault" if found.held else "?"
    rank = f"not among the first {search.looked_at}" if search.rank is None else f"rank {search.rank}"
    told = "" if search.rank is None else f", told are {search.usual}"
    return "recall", state, f"{rank}{told}; {stages_line(search.stages)}"


def _show(question: Question, found: Evidence | None, verdict: Verdict, terminal: Terminal) -> None:
    if found is not None:
        for check in checks(found):
            _show_check(check, terminal)
        if found.search is not None and found.search.hits:
            terminal.line()
            terminal.sentence(f"Recall, asked {quoted(question.query)}:", "dim")
            _show_search(found.search, terminal)
        terminal.line()
    fault, style = FAULTS.get(verdict.fault, (f"Fault: {verdict.fault}", "bad"))
    first, *rest = terminal.wrapped(f"{fault}. {clean(verdict.sentence)}")
    terminal.line(terminal.paint(first[: len(fault)], style) + first[len(fault) :])
    for line in rest:
        terminal.line(line)
    terminal.sentence(f"Next: {clean(verdict.next_step)}")


def _show_check(check: Check, terminal: Terminal) -> None:
    what, state, detail = check
    first, *rest = terminal.wrapped(clean(detail), margin=MARGIN)
    terminal.line(f"{terminal.paint(f'{state:<5}', STYLES[state])}  {what:<8}  {first}")
    for line in rest:
        terminal.line(" " * MARGIN + line)


def _show_search(search: Search, terminal: Terminal) -> None:
    """The first results; where the memory that was sought comes later, it is the last of them. What its score
    is made of stands below."""
    ranked = list(enumerate(search.hits, 1))
    if search.hit is not None and search.rank is not None and search.rank > len(ranked):
        ranked.append((search.rank, search.hit))
    heads = [
        Column("#", right=True),
        Column("score", right=True),
        Column("kind"),
        Column("text", shrinks=True),
    ]
    terminal.table(heads, [[str(at), figure(one["score"]), one["kind"], one["text"]] for at, one in ranked])
    if search.hit is not None:
        terminal.line(f"The score of #{search.rank}:", "dim")
        show_parts(search.hit, terminal, scale=scales([search.hit])[search.hit["kind"]])
