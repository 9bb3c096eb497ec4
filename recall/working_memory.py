"""Sessions as clients keep them that send them as a whole: what follows from a write, and how full they are.

Tokens are the window's estimate, `working.window.tokens_of`: the model that is named may have any vocabulary.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings

from recall.compaction import compact_by, compact_if_due
from recall.context_windows import UNKNOWN, window_of
from recall.extracting.jobs import enqueue_extraction
from recall.indexing_turns import close_withdrawn
from recall.promotion import enqueue_promotion
from recall.sessions import delete_exactly
from recall.turns import follow_up
from tenants.caller import Caller
from working.compaction import WindowTrigger
from working.events import Written
from working.types import Compacted, GivenWorkspace, Message, NewMessage, SessionAddress
from working.window import first_that_fits, tokens_of
from working.workspace import Workspace, read_workspace
from working.workspace_writing import append_messages, put_workspace

KEPT = 0.4  # share of a window that stays as it was said when the rest becomes a summary


@dataclass(frozen=True, slots=True)
class WindowSize:
    """The window of the model that a client talks to, as far as it says."""

    model_name: str | None = None
    context_window_max: int | None = None

    @property
    def is_named(self) -> bool:
        """Whether the client says anything of it."""
        return bool(self.context_window_max or self.model_name)

    @property
    def tokens(self) -> int:
        """How many it holds."""
        if self.context_window_max:
            return self.context_window_max
        return window_of(self.model_name) if self.model_name else UNKNOWN


@dataclass(frozen=True, slots=True)
class WindowUse:
    """How much of a window the messages take, in per cent up to 100; of one that is not named, no share."""

    tokens: int
    context_percentage_total_used: float | None = None
    context_percentage_until_summarization: float | None = None


def put_working_memory(
    *,
    caller: Caller,
    address: SessionAddress,
    given: GivenWorkspace,
    window: WindowSize,
    now: datetime,
    match: Collection[int] = (),
) -> Workspace:
    """Makes the session what the client sends, as `put_workspace` does, with what follows from it in the same
    commit: a summary in place of what is too much, and jobs that remember. Without a hold it gets the
    deployment's, unless a client of another kind began it. Raises Forbidden for a record of somebody else
    than the key is bound to."""
    for record in given.memories:
        caller.confine_user(record.get("user_id"))
    return put_workspace(
        caller=caller,
        address=address,
        given=given,
        now=now,
        also=_wake(caller, window, now),
        match=match,
        usual_hold=_usual_hold(),
        window=window.tokens if window.is_named else None,
    )


def append_to_working_memory(
    *,
    caller: Caller,
    address: SessionAddress,
    messages: Sequence[NewMessage],
    window: WindowSize,
    now: datetime,
    match: Collection[int] = (),
) -> Workspace:
    """Likewise adds messages to what is there."""
    return append_messages(
        caller=caller,
        address=address,
        messages=messages,
        now=now,
        also=_wake(caller, window, now),
        match=match,
        usual_hold=_usual_hold(),
    )


def read_working_memory(*, caller: Caller, address: SessionAddress, now: datetime) -> Workspace | None:
    """The session of exactly that identity, None if there is none; as `read_workspace`."""
    return read_workspace(caller=caller, address=address, now=now)


def delete_working_memory(*, caller: Caller, address: SessionAddress, now: datetime) -> bool:
    """Deletes the session of exactly that identity, whichever clients used it; whether there was one."""
    return delete_exactly(caller=caller, address=address, now=now)


def window_use(workspace: Workspace, window: WindowSize) -> WindowUse:
    """How full the window is with these messages."""
    tokens = sum(map(_tokens, workspace.messages))
    if not window.is_named:
        return WindowUse(tokens)
    return WindowUse(
        tokens, min(100.0, 100 * tokens / window.tokens), min(100.0, 100 * tokens / _due(window))
    )


def trimmed(workspace: Workspace, window: WindowSize, recent_messages_limit: int | None = None) -> Workspace:
    """The workspace with the last messages of so many, by when they were said, and of those the newest that
    fit the window that the client names, at least one."""
    messages = workspace.messages
    if recent_messages_limit is not None:
        dated = sorted(messages, key=lambda one: one.created_at)
        messages = tuple(dated[max(0, len(dated) - recent_messages_limit) :])
    if window.is_named:
        messages = messages[first_that_fits([_tokens(one) for one in messages], window.tokens) :]
    return replace(workspace, messages=messages)


def _wake(
    caller: Caller, window: WindowSize, now: datetime
) -> Callable[[Written, Workspace], Compacted | None]:
    """What follows from a write, in its commit."""

    def also(written: Written, workspace: Workspace) -> Compacted | None:
        compacted = compact_if_due(caller=caller, written=written, now=now)
        if compacted is None and _is_full(workspace, window):
            trigger = _trigger(window)
            compacted = compact_by(caller=caller, written=written, trigger=trigger, now=now)
        close_withdrawn(written=written, now=now)
        follow_up(written=written, now=now)
        enqueue_promotion(session=written.session, records=workspace.records, now=now)
        enqueue_extraction(written=written, messages=workspace.messages, now=now)
        return compacted

    return also


def _is_full(workspace: Workspace, window: WindowSize) -> bool:
    trigger = _trigger(window)
    messages = workspace.messages
    return len(messages) >= trigger.turns or sum(map(_tokens, messages)) > trigger.tokens


def _trigger(window: WindowSize) -> WindowTrigger:
    threshold = settings.SUMMARIZATION_THRESHOLD
    kept = KEPT if threshold > KEPT else threshold / 2  # what stays must not make the next summary due
    return WindowTrigger(
        turns=settings.WINDOW_SIZE + 1,
        tokens=_due(window),
        most_turns=max(1, int(settings.WINDOW_SIZE * KEPT)),
        most_tokens=int(window.tokens * kept),
    )


def _due(window: WindowSize) -> int:
    """With how many tokens more than these it is too full."""
    return max(1, int(window.tokens * settings.SUMMARIZATION_THRESHOLD))


def _usual_hold() -> int | None:
    return settings.AMS_TTL_SECONDS or None


def _tokens(message: Message) -> int:
    return tokens_of(len(message.content))
