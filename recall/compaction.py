"""Summaries while a session goes on: after so many turns, or when they hold too many tokens."""

from datetime import datetime

from recall.summarising import keep_summary, tell, wants_summaries
from recall.told import running_summary
from tenants.caller import Caller
from tenants.policy.reading import read_policy
from working.compaction import Trigger, WindowTrigger, compact
from working.events import Written
from working.models import Session
from working.spans import Span
from working.types import Compacted


def compact_if_due(*, caller: Caller, written: Written, now: datetime) -> Compacted | None:
    """Summarises what the policy has had enough of, in the scope of the append; None if it is not due.

    The summary is one episode, and part of the session's running summary. With neither trigger set, the
    default, this costs a look into the policy.
    """
    session = written.session
    policy = read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id)
    trigger = Trigger(policy.summary.every_turns, policy.summary.above_tokens, policy.working.turns)
    if not (trigger.turns or trigger.tokens):
        return None
    return compact_by(caller=caller, written=written, trigger=trigger, now=now)


def compact_by(
    *, caller: Caller, written: Written, trigger: Trigger | WindowTrigger, now: datetime
) -> Compacted | None:
    """The same by another trigger, where summaries are wanted at all."""
    if not wants_summaries(written.session):
        return None

    def summarise(locked: Session, span: Span) -> str:
        return tell(caller=caller, session=locked, span=span, now=now)

    def keep(locked: Session, span: Span, text: str) -> None:
        keep_summary(caller=caller, session=locked, span=span, text=text, now=now)

    return compact(written=written, trigger=trigger, summarise=summarise, keep=keep, retell=running_summary)
