"""The deterministic summary of a session. Pure; the wording is the AgentOps dialect's."""

LONGEST_QUOTE = 200  # characters of a message that are quoted


def summarise(*, messages: int, first: str | None, last: str | None) -> str:
    """`Session with N messages. Started: "…" — Ended: "…"`; only the count when no user spoke.

    `messages` counts user and assistant messages; `first` and `last` are the user's.
    """
    count = f"Session with {messages} messages."
    if first is None or last is None:
        return count
    return f'{count} Started: "{first[:LONGEST_QUOTE]}" — Ended: "{last[:LONGEST_QUOTE]}"'
