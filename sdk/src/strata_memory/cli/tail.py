"""Follow the events of sessions as they happen.

It goes on behind the last event when the connection ends; Ctrl-C ends it.
"""

import argparse
import math
import signal

from ..client import StrataClient
from ..streaming import LiveEvent
from .moments import moment
from .sessions import said
from .statuses import DONE
from .terminal import Terminal
from .texts import clean, columns, cut, filled

NAME = 20  # columns of a session's id
TYPE = 14
NARROW = 80  # columns below which what an event says has a line of its own


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="only of this session")
    parser.add_argument("--user", metavar="ID", help="only of this user")
    parser.add_argument("--agent", metavar="ID", help="only of this agent")
    parser.add_argument("--type", action="append", metavar="TYPE", help="only of this type; may be repeated")
    parser.add_argument(
        "--since",
        metavar="CURSOR",
        help="behind this `cursor` of --json; 0: from the beginning (from now on)",
    )


def run(client: StrataClient, arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Each event when it comes, in a line; the server may go and come back meanwhile."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are born deaf to it
    events = client.stream(
        session_id=arguments.session,
        user_id=arguments.user,
        agent_id=arguments.agent,
        event_types=arguments.type or (),
        after=arguments.since,
        patience=math.inf,
    )
    try:
        for event in events:
            if arguments.json:
                terminal.json(event.model_dump(mode="json"), in_one_line=True)
            else:
                terminal.line(_line(event, terminal))
            terminal.flush()
    except KeyboardInterrupt:
        pass  # that is how it ends
    return DONE


def _line(event: LiveEvent, terminal: Terminal) -> str:
    told = event.model_dump(mode="json")
    head = f"{moment(told['timestamp'])}  {_cell(event.session_id, NAME)}  {_cell(event.event_type, TYPE)}  "
    text = clean(said(told))
    if terminal.width is None:
        return head + text
    if terminal.width < NARROW:
        return terminal.paint(cut(head.rstrip(), terminal.width), "dim") + "\n" + terminal.fitted(f"  {text}")
    return terminal.paint(head, "dim") + cut(text, terminal.width - columns(head))


def _cell(text: str, width: int) -> str:
    return filled(cut(clean(text), width), width)
