"""One episode: read, edited, pinned, taken back, and what it said before."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, cast
from uuid import UUID

from django.db.models import Model
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.entity_tags import named_versions
from api.idempotency import once
from api.native import answers, schemas
from api.native.decisions import saved_answer
from api.native.episode_schemas import EpisodeChange, EpisodeRevisionPage
from api.native.views import NativeView, flag, page_size, whole_number
from api.views import caller_of, json_body, validated
from episodic.access import read_episode
from episodic.editing import list_revisions
from episodic.models import Episode, EpisodeRevision
from episodic.pins import pin_episode, unpin_episode
from episodic.retraction import DeletedEpisode, delete_episode, retract_episode
from episodic.types import EpisodeChanges
from episodic.unmerging import unmerge
from recall.saving_edits import save_edit
from tenants.errors import NotFound

LARGEST_REVISION = 2**31 - 1
HARD = OpenApiParameter(
    "hard", bool, description="`true`: it is gone, with its vectors and its history.", default=False
)
REVISION_CURSOR = OpenApiParameter(
    "cursor",
    {"type": "integer", "minimum": 1, "maximum": LARGEST_REVISION},
    description="Only revisions before this one: `next` of the answer before.",
)


class EpisodeView(NativeView):
    """`/api/v1/episodes/{episode_id}`"""

    scopes = {"GET": "read", "PATCH": "write", "DELETE": "write"}

    @extend_schema(summary="An episode, whether it still holds or not", responses=schemas.ReadEpisode)
    def get(self, request: Request, episode_id: str) -> Response:
        found = read_episode(caller=caller_of(request), episode_id=_named(episode_id))
        return _tagged(answers.read_episode(found), found.episode)

    @extend_schema(
        summary="Edit an episode; what it said before stays in its history",
        parameters=[parameters.IF_MATCH],
        request=EpisodeChange,
        responses=schemas.Episode,
    )
    def patch(self, request: Request, episode_id: str) -> Response:
        edit = partial(
            save_edit,
            caller=caller_of(request),
            episode_id=_named(episode_id),
            changes=cast(EpisodeChanges, validated(EpisodeChange, json_body(request))),
            match=named_versions(request, "If-Match", weak=False),
            now=timezone.now(),
        )
        return once(request, Model, edit, _edited)

    @extend_schema(
        summary="Take an episode back, or delete it for good", parameters=[HARD], responses={204: None}
    )
    def delete(self, request: Request, episode_id: str) -> Response:
        delete = partial(
            delete_episode,
            caller=caller_of(request),
            episode_id=_named(episode_id),
            hard=bool(flag(request, "hard")),
            now=timezone.now(),
        )
        return once(request, DeletedEpisode, delete, lambda _done: Response(status=204))


class HistoryView(NativeView):
    """`/api/v1/episodes/{episode_id}/history`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="What an episode said before each edit, newest first",
        parameters=[parameters.LIMIT, REVISION_CURSOR],
        responses=EpisodeRevisionPage,
    )
    def get(self, request: Request, episode_id: str) -> Response:
        limit = page_size(request)
        found = list_revisions(
            caller=caller_of(request),
            episode_id=_named(episode_id),
            limit=limit + 1,
            before=whole_number(request, "cursor", None, maximum=LARGEST_REVISION),
        )
        following = str(found[limit - 1].number) if len(found) > limit else None
        return Response({"results": [_revision(one) for one in found[:limit]], "next": following})


class _DeedView(NativeView):
    """A deed without a body, done to an episode."""

    scopes = {"POST": "write"}
    deed: ClassVar[Callable[..., Episode]]

    def done(self, request: Request, episode_id: str) -> Response:
        do = partial(
            type(self).deed,
            caller=caller_of(request),
            episode_id=_named(episode_id),
            now=timezone.now(),
        )
        return once(request, Episode, do, _shown)


class PinView(_DeedView):
    """`/api/v1/episodes/{episode_id}/pin`"""

    deed = staticmethod(pin_episode)

    @extend_schema(summary="Have retention pass an episode by", request=None, responses=schemas.Episode)
    def post(self, request: Request, episode_id: str) -> Response:
        return self.done(request, episode_id)


class UnpinView(_DeedView):
    """`/api/v1/episodes/{episode_id}/unpin`"""

    deed = staticmethod(unpin_episode)

    @extend_schema(summary="Leave an episode to retention again", request=None, responses=schemas.Episode)
    def post(self, request: Request, episode_id: str) -> Response:
        return self.done(request, episode_id)


class RetractView(_DeedView):
    """`/api/v1/episodes/{episode_id}/retract`"""

    deed = staticmethod(retract_episode)

    @extend_schema(summary="Take an episode back: it holds no more", request=None, responses=schemas.Episode)
    def post(self, request: Request, episode_id: str) -> Response:
        return self.done(request, episode_id)


class UnmergeView(_DeedView):
    """`/api/v1/episodes/{episode_id}/unmerge`"""

    deed = staticmethod(unmerge)

    @extend_schema(
        summary="Have the records hold again that this one was made of",
        request=None,
        responses=schemas.Episode,
    )
    def post(self, request: Request, episode_id: str) -> Response:
        return self.done(request, episode_id)


def _named(episode_id: str) -> UUID:
    """The id in the path. Raises NotFound for what cannot be one."""
    try:
        return UUID(episode_id)
    except ValueError as error:
        raise NotFound("There is no such episode.") from error


def _edited(done: Model) -> Response:
    """200 with the episode, or 422 with the decision not to edit it."""
    return _shown(done) if isinstance(done, Episode) else saved_answer(done)


def _shown(one: Episode) -> Response:
    return _tagged(answers.episode(one), one)


def _tagged(shown: dict[str, Any], one: Episode) -> Response:
    return Response(shown, headers={"ETag": f'"{one.version}"'})


def _revision(one: EpisodeRevision) -> dict[str, Any]:
    return {
        "number": one.number,
        "text": one.text,
        "topics": one.topics,
        "entities": one.entities,
        "outcome": one.outcome or None,
        "event_date": one.event_date,
        "metadata": one.metadata,
        "replaced_at": one.replaced_at,
        "replaced_by": one.replaced_by,
    }
