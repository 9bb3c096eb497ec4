"""Instruments of the stream server; docs/observability.md describes each."""

import os
from pathlib import Path

from prometheus_client import Counter, Gauge

OPEN = Gauge("streams_open", "Live streams that are open.", multiprocess_mode="livesum")
ENDED = Counter("streams_ended", "Live streams that have ended.", ["reason"])
SENT = Counter("stream_events", "Live events sent, one for each stream that was told.")


def forget_the_dead(folder: str) -> None:
    """Takes away what processes that were killed have left of open streams: they have none any more."""
    for file in Path(folder).glob("gauge_livesum_*.db"):
        number = file.stem.rpartition("_")[2]
        if number != str(os.getpid()) and not Path(f"/proc/{number}").exists():
            file.unlink(missing_ok=True)
