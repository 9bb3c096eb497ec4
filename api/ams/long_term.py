"""Long-term records: saved, found, read, edited, deleted, forgotten, compacted."""

import re
from functools import partial
from typing import Any, cast

from django.conf import settings
from django.db.models import Model
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.ams import bodies, given, parameters, record_answers, schemas
from api.ams.errors import BadRequest
from api.ams.reading import body_as, filled_in_query, flag, named_in_query, number_in_query
from api.ams.search_bodies import Search
from api.ams.views import AmsView
from api.errors import Problem
from api.idempotency import once
from api.views import caller_of
from episodic.access import access_of
from episodic.compacting import Compacted, compact_records
from episodic.forgetting import LOOKED_AT, ForgetPolicy, Forgotten, forget_records
from episodic.models import Episode
from episodic.records import RecordChanges, access_record, delete_records
from episodic.types import EpisodeFilter
from ledger.models import WriteDecision
from recall.long_term import search_records
from recall.saving_edits import save_record_edit
from recall.saving_records import SentRecords, save_sent_records

DISABLED = "Long-term memory is disabled"
NOTHING = "No fields provided for update"
# Clients up to this version leave `dry_run` out where they mean false.
DROPS_FALSE = re.compile(r"agent-memory-client/(\d{1,4})\.(\d{1,4})\.(\d{1,4})", re.ASCII)
LAST_THAT_DROPS = (0, 14, 0)


class LongTermView(AmsView):
    """A view of long-term records, which may be switched off."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not settings.LONG_TERM_MEMORY:
            raise BadRequest(DISABLED)


class RecordsView(LongTermView):
    """`/v1/long-term-memory`"""

    scopes = {"POST": "write", "DELETE": "write"}

    @extend_schema(
        operation_id="v1_save_records",
        summary="Save records; one with a known id takes the place of that",
        request=bodies.NewRecords,
        responses={200: schemas.Saved},
    )
    def post(self, request: Request) -> Response:
        body = body_as(request, bodies.NewRecords)
        save = partial(
            save_sent_records,
            caller=caller_of(request),
            records=[given.record_of(one) for one in body.memories],
            deduplicate=body.deduplicate,
            now=timezone.now(),
        )
        return once(request, SentRecords, save, record_answers.sent)

    @extend_schema(
        operation_id="v1_delete_records",
        summary="Delete records for good",
        parameters=[parameters.RECORDS, *parameters.WHOSE_RECORD],
        responses={200: schemas.Done},
    )
    def delete(self, request: Request) -> Response:
        delete = partial(
            delete_records,
            caller=caller_of(request),
            record_ids=request.query_params.getlist("memory_ids"),
            **_whose(request),
            now=timezone.now(),
        )
        return once(request, int, delete, lambda count: Response({"status": f"ok, deleted {count} memories"}))


class RecordView(LongTermView):
    """`/v1/long-term-memory/{memory_id}`"""

    scopes = {"GET": "read", "PATCH": "write"}

    @extend_schema(
        operation_id="v1_get_record",
        summary="A record",
        parameters=parameters.WHOSE_RECORD,
        responses=schemas.StoredRecord,
    )
    def get(self, request: Request, memory_id: str) -> Response:
        found = access_record(caller=caller_of(request), record_id=memory_id, **_whose(request))
        return _shown(request, found)

    @extend_schema(
        operation_id="v1_edit_record",
        summary="Edit a record; what it said before is kept",
        parameters=parameters.WHOSE_RECORD,
        request=bodies.RecordChanges,
        responses=schemas.StoredRecord,
    )
    def patch(self, request: Request, memory_id: str) -> Response:
        changes = body_as(request, bodies.RecordChanges).model_dump(exclude_none=True)
        if not changes:
            raise BadRequest(NOTHING)
        edit = partial(
            save_record_edit,
            caller=caller_of(request),
            record_id=memory_id,
            changes=cast(RecordChanges, changes),
            **_whose(request),
            now=timezone.now(),
        )
        return once(request, Model, edit, partial(_edited, request))

    def shape(self, problem: Problem) -> Any:
        if problem.status == 404:
            return {"detail": f"Memory with ID {self.kwargs['memory_id']} not found"}
        return super().shape(problem)


class RecordVerbView(RecordView):
    """`POST` does something; to `GET` and `PATCH`, the verb is the id of a record."""

    @extend_schema(exclude=True)
    def get(self, request: Request, memory_id: str) -> Response:
        return super().get(request, memory_id)

    @extend_schema(exclude=True)
    def patch(self, request: Request, memory_id: str) -> Response:
        return super().patch(request, memory_id)


class SearchView(RecordVerbView):
    """`POST /v1/long-term-memory/search`"""

    scopes = RecordView.scopes | {"POST": "read"}

    @extend_schema(
        operation_id="v1_search_records",
        summary="Records that are near to a text, or all that the filters admit",
        parameters=[parameters.OPTIMIZE],
        request=Search,
        responses=schemas.Results,
    )
    def post(self, request: Request, memory_id: str) -> Response:
        body, optimize = body_as(request, Search), flag(request, "optimize_query")
        found = search_records(
            caller=caller_of(request), query=body.query(optimize=bool(optimize)), now=timezone.now()
        )
        return Response(record_answers.results(found))


class ForgetView(RecordVerbView):
    """`POST /v1/long-term-memory/forget`"""

    scopes = RecordView.scopes | {"POST": "write"}

    @extend_schema(
        operation_id="v1_forget_records",
        summary="Delete what a policy has forgotten, or tell what would be",
        parameters=[*parameters.FORGOTTEN, parameters.LOOKED_AT, parameters.DRY_RUN],
        request=bodies.Forget,
        responses=schemas.Forgotten,
    )
    def post(self, request: Request, memory_id: str) -> Response:
        body, dry_run = body_as(request, bodies.Forget), _is_dry_run(request)
        forget = partial(
            forget_records,
            caller=caller_of(request),
            policy=_policy(body.policy),
            where=EpisodeFilter(
                user_id=filled_in_query(request, "user_id"),
                namespace=filled_in_query(request, "namespace"),
                session_id=filled_in_query(request, "session_id"),
            ),
            pinned_ids=body.pinned_ids or (),
            limit=number_in_query(request, "limit", LOOKED_AT),
            dry_run=dry_run,
            now=timezone.now(),
        )
        return once(request, Forgotten, forget, lambda done: _forgotten(done, dry_run=dry_run))


class CompactView(RecordVerbView):
    """`POST /v1/long-term-memory/compact`"""

    scopes = RecordView.scopes | {"POST": "write"}

    @extend_schema(
        operation_id="v1_compact_records",
        summary="Merge records that say the same",
        parameters=[parameters.OF_USER, parameters.OF_NAMESPACE],
        request=None,
        responses=schemas.Done,
    )
    def post(self, request: Request, memory_id: str) -> Response:
        compact = partial(
            compact_records,
            caller=caller_of(request),
            user_id=filled_in_query(request, "user_id"),
            namespace=filled_in_query(request, "namespace"),
            now=timezone.now(),
        )
        return once(request, Compacted, compact, _compacted)


def _whose(request: Request) -> dict[str, str | None]:
    """Whose record is meant, where the caller says so."""
    return {
        "user_id": named_in_query(request, "user_id"),
        "namespace": named_in_query(request, "namespace"),
    }


def _edited(request: Request, done: Model) -> Response:
    if isinstance(done, Episode):
        return _shown(request, done)
    assert isinstance(done, WriteDecision)  # noqa: S101  an edit answers nothing else
    return record_answers.refusal((done, ("text",)))


def _shown(request: Request, one: Episode) -> Response:
    used = access_of(caller=caller_of(request), ids=[one.id])
    return Response(record_answers.record(one, used[one.id]))


def _is_dry_run(request: Request) -> bool:
    told = flag(request, "dry_run")
    if told is not None:
        return told
    version = DROPS_FALSE.match(request.headers.get("User-Agent", ""))
    return version is None or tuple(map(int, version.groups())) > LAST_THAT_DROPS


def _policy(sent: bodies.ForgetPolicy) -> ForgetPolicy:
    types = sent.memory_type_allowlist
    return ForgetPolicy(
        max_age_days=sent.max_age_days,
        max_inactive_days=sent.max_inactive_days,
        budget=sent.budget,
        memory_types=None if types is None else tuple(types),
        hard_age_multiplier=sent.hard_age_multiplier,
    )


def _forgotten(done: Forgotten, *, dry_run: bool) -> Response:
    return Response(
        {
            "scanned": done.scanned,
            "deleted": done.deleted,
            "deleted_ids": done.deleted_ids,
            "dry_run": dry_run,
        }
    )


def _compacted(done: Compacted) -> Response:
    return Response({"status": f"ok, {done.remaining} memories remaining after compaction"})
