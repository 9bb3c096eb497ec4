"""Show the messages that an agent would send to its model now.

The session counts as told what the messages tell, as when an agent asks; one that is not there is not made.
"""

import argparse
from typing import Any

from ..client import StrataClient
from ..errors import NotFound
from ..operations import sessions
from ..operations.memory import ASSEMBLE
from .asking import get, post
from .recall import stages_line
from .statuses import DONE, NOTHING, Usage
from .tables import Column
from .terminal import Terminal
from .texts import clean


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="what the user says now")
    parser.add_argument("--session", metavar="ID", required=True, help="the conversation")
    parser.add_argument("--user", metavar="ID", help="whose session")
    parser.add_argument("--agent", metavar="ID", help="the agent that asks")
    parser.add_argument("--system", metavar="TEXT", help="the agent's own system message")
    parser.add_argument("--budget", type=int, metavar="TOKENS", help="the most tokens of all messages")
    parser.add_argument("--again", action="store_true", help="also what the session was told already")


def run(client: StrataClient, arguments: argparse.Namespace, terminal: Terminal) -> int:
    """The messages, and why each item is in them or not; status 1 where there is no such session."""
    if not arguments.session:
        raise Usage("A session's id is not empty.")
    if not _is_there(client, arguments):
        terminal.complain(f"There is no session {clean(arguments.session)}.")
        return NOTHING
    answer = post(
        client,
        ASSEMBLE,
        {
            "session_id": arguments.session,
            "user_id": arguments.user,
            "agent_id": arguments.agent,
            "query": arguments.query,
            "system": arguments.system,
            "token_budget": arguments.budget,
            "dedupe": False if arguments.again else None,
        },
    )
    if arguments.json:
        terminal.json(answer)
    else:
        _show(answer, terminal)
    return DONE


def _is_there(client: StrataClient, arguments: argparse.Namespace) -> bool:
    """An assembly would begin a session that is not there, and a look leaves none behind."""
    try:
        get(client, sessions.GET, arguments.session, user_id=arguments.user)
    except NotFound:
        return False
    return True


def _show(answer: dict[str, Any], terminal: Terminal) -> None:
    for message in answer["messages"]:
        terminal.line(clean(str(message.get("role"))), "head")
        content = message.get("content")
        if content is not None:
            terminal.block(content if isinstance(content, str) else str(content))
        if calls := message.get("tool_calls"):
            terminal.block("\n".join(map(str, calls)) if isinstance(calls, list) else str(calls))
        terminal.line()
    heads = [
        Column("kind"),
        Column("in"),
        Column("why"),
        Column("ledger"),
        Column("score", right=True),
        Column("tokens", right=True),
        Column("id", shrinks=True),
    ]
    terminal.table(heads, [_row(one) for one in answer["items"]])
    stages = answer.get("stages") or ()
    if any(one["status"] != "ok" for one in stages):
        terminal.sentence(f"Stages: {stages_line(stages)}", "dim")
    terminal.line(f"{answer['tokens']} tokens", "dim")


def _row(one: dict[str, Any]) -> list[str]:
    score = "" if one["score"] is None else f"{one['score']:.3f}"
    kind = one["kind"] if one.get("count", 1) == 1 else f"{one['count']} {one['kind']}"
    included = "yes" if one["included"] else "no"
    return [kind, included, one["why"], one["ledger"], score, str(one["tokens"]), one["id"] or ""]
