"""Sessions that are sent as a whole, with what follows from that."""

from typing import Any

from django.utils import timezone

from recall.working_memory import WindowSize, append_to_working_memory, put_working_memory
from tenants.caller import Caller
from tests.working.conversation import S
from working.types import GivenWorkspace, NewMessage, SessionAddress
from working.workspace import Workspace

NO_WINDOW = WindowSize()


def put(
    caller: Caller,
    *messages: NewMessage,
    address: SessionAddress = S,
    window: WindowSize = NO_WINDOW,
    **given: Any,
) -> Workspace:
    whole = GivenWorkspace(messages=messages, **given)
    now = timezone.now()
    return put_working_memory(caller=caller, address=address, given=whole, window=window, now=now)


def add(
    caller: Caller, *messages: NewMessage, address: SessionAddress = S, window: WindowSize = NO_WINDOW
) -> Workspace:
    now = timezone.now()
    return append_to_working_memory(caller=caller, address=address, messages=messages, window=window, now=now)
