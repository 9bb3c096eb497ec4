"""Remember what is worth it of something that was said."""

import argparse
import sys

from ..client import StrataClient
from ..operations.memory import REMEMBER
from .asking import post
from .statuses import DONE, NOTHING, Usage
from .tables import Column
from .terminal import Terminal

SESSION = "strata-cli"


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="what the user said; - reads it from standard input")
    parser.add_argument("--user", metavar="ID", help="who said it; needed unless the key is a user's")
    parser.add_argument("--session", metavar="ID", default=SESSION, help=f"the conversation ({SESSION})")
    parser.add_argument("--agent", metavar="ID", help="the agent that was told")
    parser.add_argument("--assistant", metavar="TEXT", help="what the agent answered")


def run(client: StrataClient, arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Shows what was written and what was skipped, with the reason; nothing written is status 1."""
    answer = post(
        client,
        REMEMBER,
        {
            "session_id": arguments.session,
            "user_id": arguments.user,
            "agent_id": arguments.agent,
            "user_message": _text(arguments.text),
            "assistant_message": arguments.assistant,
        },
    )
    written, skipped = answer["written"], answer["skipped"]
    if arguments.json:
        terminal.json(answer)
    else:
        rows = [["written", one["kind"], one["text"], one["id"]] for one in written]
        rows += [["skipped", one["reason"], one["text"], ""] for one in skipped]
        if rows:
            heads = [Column("result"), Column("kind or reason"), Column("text", shrinks=True), Column("id")]
            terminal.table(heads, rows)
        if not written:
            terminal.line("Nothing was written.", "doubt")
    return DONE if written else NOTHING


def _text(given: str) -> str:
    if given != "-":
        return given
    try:
        read = sys.stdin.read() if sys.stdin else ""  # none: it is closed
    except UnicodeDecodeError as error:
        raise Usage("What standard input says is no text.") from error
    if not read.strip():
        raise Usage("Standard input says nothing.")
    return read.strip()
