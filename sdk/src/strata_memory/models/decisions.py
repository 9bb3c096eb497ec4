# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `decisions` answers."""

from ..answer import Answer
from .several import Decision


class DecisionPage(Answer):
    """A page of `Decision`; with `next` as `cursor` comes the one behind it."""

    results: list[Decision]
    next: str | None
