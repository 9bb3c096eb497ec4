# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `jobs` answers."""

from ..answer import Answer
from .several import Job


class JobPage(Answer):
    """A page of `Job`; with `next` as `cursor` comes the one behind it."""

    results: list[Job]
    next: str | None
