# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `episodes`."""

from ..calls import Operation
from ..models.episodes import Episode, EpisodePage, EpisodeRevisionPage, ReadEpisode, StoredEpisode
from ..models.several import Decision

LIST: Operation[EpisodePage] = Operation("GET", "/api/v1/episodes", answer=EpisodePage)
CREATE: Operation[StoredEpisode | Decision] = Operation(
    "POST", "/api/v1/episodes", answer=StoredEpisode | Decision, is_write=True, is_kept=True
)
GET: Operation[ReadEpisode] = Operation("GET", "/api/v1/episodes/{episode_id}", answer=ReadEpisode)
CHANGE: Operation[Episode] = Operation(
    "PATCH", "/api/v1/episodes/{episode_id}", answer=Episode, nulls=frozenset({"event_date"}), is_write=True
)
DELETE: Operation[None] = Operation("DELETE", "/api/v1/episodes/{episode_id}", is_write=True)
HISTORY: Operation[EpisodeRevisionPage] = Operation(
    "GET", "/api/v1/episodes/{episode_id}/history", answer=EpisodeRevisionPage
)
PIN: Operation[Episode] = Operation(
    "POST", "/api/v1/episodes/{episode_id}/pin", answer=Episode, is_write=True
)
RETRACT: Operation[Episode] = Operation(
    "POST", "/api/v1/episodes/{episode_id}/retract", answer=Episode, is_write=True
)
UNMERGE: Operation[Episode] = Operation(
    "POST", "/api/v1/episodes/{episode_id}/unmerge", answer=Episode, is_write=True
)
UNPIN: Operation[Episode] = Operation(
    "POST", "/api/v1/episodes/{episode_id}/unpin", answer=Episode, is_write=True
)
