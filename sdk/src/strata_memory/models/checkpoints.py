# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `checkpoints` answers."""

from datetime import datetime

from ..answer import Answer


class WrittenCheckpoint(Answer):
    """What `checkpoints.put` answers."""

    version: int
    updated_at: datetime
