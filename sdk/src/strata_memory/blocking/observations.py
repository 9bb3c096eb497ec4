# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `observations`."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from ..calls import UNSET, Maybe
from ..group import Group
from ..models.observations import Observation, ObservationPage, ObservationRevision, ObservationRevisionPage
from ..operations import observations as does
from ..paging import iterate


class ObservationsGroup(Group):
    """What agents have found out about a project, with their revisions."""

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        project: str | None = None,
        scope: str | None = None,
        session_id: str | None = None,
        since: datetime | str | None = None,
        state: str | None = None,
        tag: Sequence[str] | None = None,
        type: str | None = None,
        until: datetime | str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> ObservationPage:
        """Observations, newest first.

        cursor: Where to go on: `next` of the answer before.
        limit: The most results in one answer.
        project: Only of this project, in any case, or global.
        scope: Only of this scope: `project`, `global` or another.
        session_id: Only of the session with this id.
        since: Only those made then or later.
        state: `trash`: deleted ones, those deleted last first.
        tag: Only with this tag; repeated, with all of them.
        type: Only of this type.
        until: Only those made then or earlier.
        """
        return self._client.call(
            does.LIST,
            query={
                "cursor": cursor,
                "limit": limit,
                "project": project,
                "scope": scope,
                "session_id": session_id,
                "since": since,
                "state": state,
                "tag": tag,
                "type": type,
                "until": until,
                "user_id": user_id,
            },
        )

    def iterate(
        self,
        *,
        limit: int | None = None,
        project: str | None = None,
        scope: str | None = None,
        session_id: str | None = None,
        since: datetime | str | None = None,
        state: str | None = None,
        tag: Sequence[str] | None = None,
        type: str | None = None,
        until: datetime | str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> Iterator[Observation]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return iterate(
            lambda cursor: self.list(
                limit=limit,
                project=project,
                scope=scope,
                session_id=session_id,
                since=since,
                state=state,
                tag=tag,
                type=type,
                until=until,
                user_id=user_id,
                cursor=cursor,
            )
        )

    def get(self, observation_id: str) -> Observation:
        """An observation."""
        return self._client.call(does.GET, path=(observation_id,))

    def restore(self, observation_id: str) -> Observation:
        """Bring an observation back from the trash."""
        return self._client.call(does.RESTORE, path=(observation_id,))

    def revisions(
        self, observation_id: str, *, cursor: int | None = None, limit: int | None = None
    ) -> ObservationRevisionPage:
        """What an observation said before each change, newest first.

        cursor: Only revisions before this number: `next` of the answer before.
        limit: The most results in one answer.
        """
        return self._client.call(
            does.REVISIONS, path=(observation_id,), query={"cursor": cursor, "limit": limit}
        )

    def iterate_revisions(
        self, observation_id: str, *, limit: int | None = None
    ) -> Iterator[ObservationRevision]:
        """All of `revisions`, page by page; `limit` is the length of a page."""
        return iterate(lambda cursor: self.revisions(observation_id, limit=limit, cursor=cursor))
