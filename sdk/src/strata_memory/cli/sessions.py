"""List sessions, or show the log of one."""

import argparse
import json
from collections import deque
from typing import Any

from ..client import StrataClient
from ..operations import sessions
from .asking import every, get
from .moments import moment
from .statuses import DONE, NOTHING, Usage
from .tables import Column
from .terminal import Terminal

MOST = 50
LONGEST_LOG = 100_000  # events that are shown of one session, the newest


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("show", metavar="SESSION_ID", nargs="?", help="the session whose log is shown")
    parser.add_argument(
        "--user", metavar="ID", help="only of this user; needed where several have a session of that id"
    )
    parser.add_argument("--agent", metavar="ID", help="only of this agent")
    parser.add_argument("--active", action="store_true", help="only those that have not ended")
    parser.add_argument(
        "--limit", type=int, metavar="N", help=f"the newest N ({MOST}; of a log {LONGEST_LOG:,})"
    )


def run(client: StrataClient, arguments: argparse.Namespace, terminal: Terminal) -> int:
    """A list, newest activity first; or a log, oldest entry first."""
    if arguments.limit is not None and arguments.limit < 1:
        raise Usage("--limit is at least 1.")
    if arguments.show is not None:
        return _log(client, arguments, terminal)
    found = every(
        client,
        sessions.LIST,
        most=arguments.limit or MOST,
        user_id=arguments.user,
        agent_id=arguments.agent,
        active="true" if arguments.active else None,
    )
    listed = list(found)
    if arguments.json:
        terminal.json(listed)
    elif listed:
        terminal.table(
            [Column("session", shrinks=True), Column("user"), Column("agent"), Column("turns", right=True),
             Column("last"), Column("ended"), Column("summary", shrinks=True)],
            [_row(one) for one in listed],
        )  # fmt: skip
    else:
        terminal.line("There are no sessions.", "doubt")
    return DONE if listed else NOTHING


def _row(one: dict[str, Any]) -> list[str]:
    last, ended = moment(one["last_activity_at"]), moment(one["ended_at"])
    names = [one["session_id"], one["user_id"] or "", one["agent_id"] or ""]
    return [*names, str(one["turn_count"]), last, ended, one["summary"] or ""]


def _log(client: StrataClient, arguments: argparse.Namespace, terminal: Terminal) -> int:
    if not arguments.show:
        raise Usage("A session's id is not empty.")
    asked = {"user_id": arguments.user}
    session = get(client, sessions.GET, arguments.show, **asked)
    events = every(client, sessions.EVENTS, arguments.show, **asked)  # from the oldest on
    shown = list(deque(events, maxlen=min(arguments.limit or LONGEST_LOG, LONGEST_LOG)))
    if arguments.json:
        terminal.json({"session": session, "events": shown})
        return DONE
    terminal.table(
        [Column("seq", right=True), Column("when"), Column("what"), Column("content", shrinks=True)],
        [[str(one["seq"]), moment(one["timestamp"]), one["event_type"], said(one)] for one in shown],
    )
    if session["summary"]:
        terminal.line("Summary:", "dim")
        terminal.block(session["summary"])
    return DONE


def said(event: dict[str, Any]) -> str:
    """What an event says, in one text: its content, or the calls it makes."""
    content = event.get("content")
    if content is None or content == "":
        content = event.get("tool_calls")
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
