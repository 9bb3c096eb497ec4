"""Ask what is remembered."""

import argparse
from collections.abc import Sequence
from typing import Any

from ..client import StrataClient
from ..operations.memory import RECALL
from .asking import post
from .explaining import drawn, parts_of, scales
from .moments import moment
from .statuses import DONE, NOTHING, Usage
from .tables import Column
from .terminal import Terminal
from .texts import clean

KINDS = ("episode", "entity", "observation")
MODES = ("semantic", "keyword", "hybrid")
INDENT = "    "  # of what is told of a result below its first line


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="what is asked")
    parser.add_argument("--user", metavar="ID", help="whose memory")
    parser.add_argument("--agent", metavar="ID", help="only what this agent remembers")
    parser.add_argument("--session", metavar="ID", help="only what this session left")
    parser.add_argument("--top-k", type=int, metavar="N", help="how many results (as the policy says)")
    parser.add_argument(
        "--mode", choices=MODES, metavar="MODE", help=f"{', '.join(MODES)} (as the policy says)"
    )
    parser.add_argument(
        "--kind",
        action="append",
        choices=KINDS,
        metavar="KIND",
        help=f"{', '.join(KINDS)}; may be repeated (with --user alone episode and entity, else episode)",
    )
    parser.add_argument("--explain", action="store_true", help="draw what each score is made of")


def run(client: StrataClient, arguments: argparse.Namespace, terminal: Terminal) -> int:
    """The results, of each kind the best first and the kinds in turn. A look does not count as an access."""
    if arguments.top_k is not None and arguments.top_k < 1:
        raise Usage("--top-k is at least 1.")
    answer = post(
        client,
        RECALL,
        {
            "query": arguments.query,
            "user_id": arguments.user,
            "agent_id": arguments.agent,
            "session_id": arguments.session,
            "top_k": arguments.top_k,
            "mode": arguments.mode,
            "kinds": arguments.kind,
            "explain": True if arguments.explain else None,
            "count_access": False,
        },
    )
    if arguments.json:
        terminal.json(answer)
    else:
        _show(answer, terminal, arguments)
    return DONE if answer["results"] else NOTHING


def _show(answer: dict[str, Any], terminal: Terminal, arguments: argparse.Namespace) -> None:
    hits = answer["results"]
    if not hits:
        terminal.line("Nothing was found.", "doubt")
    elif arguments.explain:
        _show_explained(hits, terminal)
    else:
        heads = [Column("#", right=True), Column("score", right=True), Column("kind"), Column("when")]
        rows = [
            [str(at), figure(one["score"]), one["kind"], _when(one), one["text"]]
            for at, one in enumerate(hits, 1)
        ]
        terminal.table([*heads, Column("text", shrinks=True)], rows)
    if answer["query_used"] != arguments.query:
        terminal.sentence(f"Searched for: {clean(answer['query_used'])}", "dim")
    if arguments.explain or any(stage["status"] != "ok" for stage in answer["stages"]):
        terminal.sentence(f"Stages: {stages_line(answer['stages'])}", "dim")


def show_parts(hit: dict[str, Any], terminal: Terminal, *, scale: float) -> None:
    """What a result's score is made of, a line for each part, below what was told of it."""
    for line in drawn(parts_of(hit), scale):
        terminal.line(terminal.fitted(INDENT + line))


def _show_explained(hits: Sequence[dict[str, Any]], terminal: Terminal) -> None:
    """Each result with the parts of its score, drawn on one scale for its kind of memory."""
    longest = scales(hits)
    for at, one in enumerate(hits, 1):
        terminal.line(f"{at:>2}  {figure(one['score'])}  {one['kind']}  {_when(one)}", "head")
        terminal.line(terminal.fitted(INDENT + clean(one["text"])))
        show_parts(one, terminal, scale=longest[one["kind"]])


def stages_line(stages: Sequence[dict[str, Any]]) -> str:
    """`embed 3 ms, vector failed`"""
    shown = [
        f"{one['name']} {one['ms']:.0f} ms" if one["status"] == "ok" else f"{one['name']} {one['status']}"
        for one in stages
    ]
    return clean(", ".join(shown))


def figure(value: float | None) -> str:
    """A score as it is shown."""
    return "" if value is None else f"{value:.3f}"


def _when(one: dict[str, Any]) -> str:
    return moment(one.get("event_date") or one.get("created_at"))
