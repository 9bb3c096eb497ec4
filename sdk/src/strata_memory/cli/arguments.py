"""What can be typed after `strata`."""

import argparse
import math
import shutil
from collections.abc import Sequence
from types import ModuleType

from . import context, recall, remember, sessions, tail
from .doctor import command as doctor

COMMANDS: dict[str, ModuleType] = {
    "remember": remember,
    "recall": recall,
    "context": context,
    "sessions": sessions,
    "tail": tail,
    "doctor": doctor,
}
EVERYWHERE = {"url": None, "key": None, "timeout": 30.0, "json": False}
WIDEST = 100  # columns of a help text; longer lines are hard to read
EXITS = """exit status:
  0  done
  1  nothing found or written, or a fault
  2  wrong usage
  3  the server is away
  4  the server refuses
  5  the doctor is unsure"""


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; `command` names the one of COMMANDS. Exits with 2 for wrong ones."""
    parser = argparse.ArgumentParser(
        prog="strata",
        description="Remember, recall and look into a Strata memory server.",
        epilog=EXITS,
        formatter_class=_Raw,
    )
    _declare_everywhere(parser)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        summary = (module.__doc__ or "").partition("\n")[0]
        own = commands.add_parser(name, help=summary, description=module.__doc__, formatter_class=_Filled)
        module.declare(own)
        _declare_everywhere(own)
    arguments = parser.parse_args(argv)
    for name, value in EVERYWHERE.items():
        if not hasattr(arguments, name):
            setattr(arguments, name, value)
    return arguments


class _Filled(argparse.HelpFormatter):
    """As wide as the terminal, up to a width that can be read."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(shutil.get_terminal_size().columns - 2, WIDEST))


class _Raw(_Filled, argparse.RawDescriptionHelpFormatter):
    """The same, with the lines of the epilog."""


def _declare_everywhere(parser: argparse.ArgumentParser) -> None:
    """Options that may stand before the command or behind it; what is not given is not set."""
    group = parser.add_argument_group("server and output")
    unset = argparse.SUPPRESS
    group.add_argument(
        "--url", metavar="URL", default=unset, help="the server (else STRATA_URL, else that of `make run`)"
    )
    group.add_argument(
        "--key",
        metavar="KEY",
        default=unset,
        help="the key; better in STRATA_API_KEY, which nobody else sees",
    )
    group.add_argument("--timeout", metavar="S", type=_seconds, default=unset, help="seconds for a call (30)")
    group.add_argument("--json", action="store_true", default=unset, help="answer JSON")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (seconds > 0 and math.isfinite(seconds)):
        raise argparse.ArgumentTypeError("must be a number of seconds above zero")
    return seconds
