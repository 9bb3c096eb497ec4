"""`strata`: from the command line to an exit status. Nobody is shown a traceback for what can go wrong."""

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence

from ..addresses import find_address
from ..client import StrataClient
from ..errors import StrataError
from .arguments import COMMANDS, parse
from .statuses import DONE, NOTHING, USAGE, Usage, sentence_of, status_of
from .terminal import Terminal, Unwritable, standard

INTERRUPTED = 130  # as shells say of a program that Ctrl-C has ended


def main(argv: Sequence[str] | None = None) -> int:
    """Does what `argv` asks for and returns the exit status."""
    arguments = parse(argv)
    terminal = standard()
    try:
        status = _run(arguments, terminal)
        terminal.flush()
    except BrokenPipeError:  # whoever read has seen enough
        _let_go()
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Unwritable as error:
        _let_go()
        with contextlib.suppress(OSError):
            terminal.complain(f"The output cannot be written: {error}.")
        return NOTHING
    return status


def _run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    try:
        try:
            address = find_address(arguments.url, arguments.key)
            client = StrataClient(address.url, address.api_key, timeout=arguments.timeout)
        except ValueError as error:  # of the address or the key, which it does not repeat
            raise Usage(str(error)) from error
        with client:
            status: int = COMMANDS[arguments.command].run(client, arguments, terminal)
            return status
    except Usage as error:
        terminal.complain(str(error))
        return USAGE
    except StrataError as error:
        terminal.flush()
        terminal.complain(sentence_of(error))
        return status_of(error)


def _let_go() -> None:
    """Python would complain at its end that it cannot write what is left."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
