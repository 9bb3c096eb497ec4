"""The evaluation set: queries that recall is measured with; and how a trial of two settings stands."""

from functools import partial
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import evaluation_schemas as schemas
from api.native.cursors import page, position_of
from api.native.views import NativeView, flag, page_size
from api.views import caller_of, json_body, query_id, validated
from ledger.cases import DeletedQuery, NewQuery, QueryFilter, access_query, delete_query, list_queries
from ledger.models import EvaluationQuery
from recall.saving_queries import label_query, save_query
from recall.trials import Arm, Trial, compare_trial
from tenants.errors import Invalid, NotFound

SOURCES = EvaluationQuery.Source.values
SOURCE = OpenApiParameter("source", str, enum=SOURCES, description="Only those sampled, or those saved.")
LABELLED = OpenApiParameter(
    "labelled", bool, description="Only those with labels (`true`), or only those without."
)


class SavedQueriesView(NativeView):
    """`/api/v1/evaluation/queries`"""

    scopes = {"GET": "read", "POST": "write"}

    @extend_schema(
        operation_id="evaluation_queries_list",
        summary="Queries that recall is measured with, newest first",
        parameters=[
            *parameters.LIST, parameters.USER, parameters.AGENT, parameters.OF_SESSION, SOURCE, LABELLED,
        ],
        responses=schemas.SavedQueryPage,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        where = QueryFilter(
            user_id=query_id(request, "user_id"),
            agent_id=query_id(request, "agent_id"),
            session_id=query_id(request, "session_id"),
            source=_source(request),
            labelled=flag(request, "labelled"),
        )
        found = list_queries(
            caller=caller_of(request), where=where, limit=limit + 1, before=position_of(request)
        )
        return Response(page(found, limit, moment=lambda one: one.created_at, show=_query))

    @extend_schema(
        summary="Save a query to measure recall with",
        request=schemas.NewSavedQuery,
        responses={201: schemas.SavedQuery},
    )
    def post(self, request: Request) -> Response:
        body = validated(schemas.NewSavedQuery, json_body(request))
        new = NewQuery(
            text=body["text"],
            user_id=body.get("user_id") or "",
            agent_id=body.get("agent_id") or "",
            session=body.get("session_id") or "",
            relevant=tuple(body.get("relevant", ())),
        )
        save = partial(save_query, caller=caller_of(request), new=new, now=timezone.now())
        return once(request, EvaluationQuery, save, lambda kept: Response(_query(kept), status=201))


class SavedQueryView(NativeView):
    """`/api/v1/evaluation/queries/{query_id}`"""

    scopes = {"GET": "read", "PATCH": "write", "DELETE": "write"}

    @extend_schema(summary="A query that recall is measured with", responses=schemas.SavedQuery)
    def get(self, request: Request, query_id: str) -> Response:
        return Response(_query(access_query(caller=caller_of(request), query_id=_named(query_id))))

    @extend_schema(
        summary="Say which episodes answer it", request=schemas.Labels, responses=schemas.SavedQuery
    )
    def patch(self, request: Request, query_id: str) -> Response:
        label = partial(
            label_query,
            caller=caller_of(request),
            query_id=_named(query_id),
            relevant=validated(schemas.Labels, json_body(request))["relevant"],
            now=timezone.now(),
        )
        return once(request, EvaluationQuery, label, lambda kept: Response(_query(kept)))

    @extend_schema(summary="Delete it for good", responses={204: None})
    def delete(self, request: Request, query_id: str) -> Response:
        delete = partial(delete_query, caller=caller_of(request), query_id=_named(query_id))
        return once(request, DeletedQuery, delete, lambda _done: Response(status=204))


class TrialView(NativeView):
    """`/api/v1/evaluation/trial`"""

    scopes = {"GET": "admin"}

    @extend_schema(summary="How the trial of two settings of recall stands", responses=schemas.Trial)
    def get(self, request: Request) -> Response:
        return Response(_trial(compare_trial(caller=caller_of(request))))


def _query(one: EvaluationQuery) -> dict[str, Any]:
    return {
        "id": one.id,
        "text": one.text,
        "user_id": one.user_id or None,
        "agent_id": one.agent_id or None,
        "session_id": one.session or None,
        "relevant": one.relevant,
        "source": one.source,
        "created_at": one.created_at,
    }


def _trial(one: Trial) -> dict[str, Any]:
    difference = one.difference and {"helpful_rate": one.difference[0], "ci95": one.difference[1]}
    return {
        "share": one.share,
        "setting": one.setting,
        "version": one.version,
        "since": one.since,
        "variants": {variant: _arm(arm) for variant, arm in one.arms.items()},
        "difference": difference,
    }


def _arm(one: Arm) -> dict[str, Any]:
    return {
        "sessions": one.sessions,
        "injections": one.injections,
        "verdicts": one.verdicts,
        "helpful": one.helpful,
        "helpful_rate": one.helpful_rate,
        "ci95": one.ci95,
    }


def _source(request: Request) -> str | None:
    named = query_id(request, "source")
    if named is not None and named not in SOURCES:
        raise Invalid(f"Must be one of {', '.join(SOURCES)}.", "source")
    return named


def _named(text: str) -> UUID:
    """The id in the path. Raises NotFound for what cannot be one."""
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound("There is no such saved query.") from error
