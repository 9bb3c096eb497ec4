# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `feedback` answers."""

from datetime import datetime

from ..answer import Answer


class Feedback(Answer):
    """What `feedback.create` answers."""

    id: str
    kind: str
    memory_id: str
    injection_id: str | None
    session_id: str | None
    user_id: str | None
    agent_id: str | None
    verdict: str
    note: str | None
    judge: str
    created_at: datetime
    """When the judge last said so."""


class FeedbackPage(Answer):
    """A page of `Feedback`; with `next` as `cursor` comes the one behind it."""

    results: list[Feedback]
    next: str | None
