"""Write decisions: what was not written and why, confirmed or rejected by somebody who may."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Model
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.errors import FieldProblem, Problem
from api.idempotency import once
from api.native import answers, errors
from api.native import decision_schemas as schemas
from api.native.cursors import page, position_of
from api.native.moments import moment_of
from api.native.views import NativeView, page_size
from api.views import caller_of, query_id
from episodic.models import Episode
from ledger.decisions import DecisionFilter, access_decision, list_decisions
from ledger.models import WriteDecision
from recall.confirming import confirm_decision, reject_decision
from recall.gate import REFUSED
from tenants.errors import Invalid, NotFound

OUTCOMES = WriteDecision.Outcome.values
KIND = OpenApiParameter("kind", str, description="Only of this kind: entity, episode, summary.")
OUTCOME = OpenApiParameter("outcome", str, enum=OUTCOMES, description="Only with this outcome.")
REASON = OpenApiParameter("reason", str, description="Only for this reason, such as `blocklist`.")
SINCE = OpenApiParameter("since", datetime, description="Only since this moment.")


class DecisionsView(NativeView):
    """`/api/v1/write-decisions`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="write_decisions_list",
        summary="What was not written and why, newest first",
        parameters=[
            *parameters.LIST, parameters.USER, parameters.AGENT, parameters.OF_SESSION, KIND, OUTCOME, REASON,
            SINCE,
        ],
        responses=schemas.DecisionPage,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        where = DecisionFilter(
            user_id=query_id(request, "user_id"),
            agent_id=query_id(request, "agent_id"),
            session_id=query_id(request, "session_id"),
            kind=query_id(request, "kind"),
            outcome=_one_of(OUTCOMES, query_id(request, "outcome"), "outcome"),
            reason=query_id(request, "reason"),
            since=moment_of(query_id(request, "since"), "since"),
        )
        found = list_decisions(
            caller=caller_of(request), where=where, limit=limit + 1, before=position_of(request)
        )
        return Response(page(found, limit, moment=lambda one: one.created_at, show=decision_answer))


class DecisionView(NativeView):
    """`/api/v1/write-decisions/{decision_id}`"""

    scopes = {"GET": "read"}

    @extend_schema(summary="Why something was not written", responses=schemas.Decision)
    def get(self, request: Request, decision_id: str) -> Response:
        found = access_decision(caller=caller_of(request), decision_id=_uuid(decision_id))
        return Response(decision_answer(found))


class ConfirmView(NativeView):
    """`POST /api/v1/write-decisions/{decision_id}/confirm`"""

    scopes = {"POST": "write"}

    @extend_schema(summary="Write it after all", request=None, responses=schemas.Decision)
    def post(self, request: Request, decision_id: str) -> Response:
        return once(
            request,
            WriteDecision,
            lambda: confirm_decision(
                caller=caller_of(request), decision_id=_uuid(decision_id), now=timezone.now()
            ),
            lambda decision: Response(decision_answer(decision)),
        )


class RejectView(NativeView):
    """`POST /api/v1/write-decisions/{decision_id}/reject`"""

    scopes = {"POST": "write"}

    @extend_schema(summary="Drop for good what was kept of it", request=None, responses=schemas.Decision)
    def post(self, request: Request, decision_id: str) -> Response:
        return once(
            request,
            WriteDecision,
            lambda: reject_decision(
                caller=caller_of(request), decision_id=_uuid(decision_id), now=timezone.now()
            ),
            lambda decision: Response(decision_answer(decision)),
        )


def decision_answer(one: WriteDecision) -> dict[str, Any]:
    """A decision. What is kept to be written is not shown: it may be what had to be masked."""
    undecided = one.outcome in {WriteDecision.Outcome.HELD, WriteDecision.Outcome.SKIPPED}
    return {
        "id": one.id,
        "kind": one.kind,
        "key": one.key or None,
        "outcome": one.outcome,
        "reason": one.reason,
        "findings": one.findings,
        "text": one.text,
        "confidence": one.confidence,
        "confirmable": undecided and one.held is not None,
        "memory_id": one.memory_id or None,
        "user_id": one.user_id or None,
        "agent_id": one.agent_id or None,
        "project": one.project or None,
        "session_id": one.session or None,
        "decided_by": one.decided_by or None,
        "decided_at": one.decided_at,
        "created_at": one.created_at,
    }


def saved_answer(saved: Model) -> Response:
    """Of an episode that was sent: 201 with the stored one, 202 with the decision that holds it back, 422
    naming the decision not to store it."""
    if isinstance(saved, Episode):
        return Response({**answers.episode(saved), "supersedes": list(saved.supersedes)}, status=201)
    assert isinstance(saved, WriteDecision)  # noqa: S101  `save_episode` answers nothing else
    if saved.outcome == WriteDecision.Outcome.HELD:
        return Response(decision_answer(saved), status=202)
    return refused_answer([(("text",), saved)])


def refused_answer(refused: Sequence[tuple[tuple[str | int, ...], WriteDecision]]) -> Response:
    """422 naming the decisions not to store what stands at these paths of the body."""
    fields = [FieldProblem(path, REFUSED[one.reason], one.reason) for path, one in refused]
    problem = errors.shape(Problem(422, fields[0].message, tuple(fields)))
    problem["errors"] = [
        {**shown, "decision_id": one.id, "findings": one.findings}
        for shown, (_path, one) in zip(problem["errors"], refused, strict=True)
    ]
    return Response(problem, status=422)


def _one_of(known: Collection[str], value: str | None, field: str) -> str | None:
    if value is not None and value not in known:
        raise Invalid(f"Must be one of {', '.join(known)}.", field)
    return value


def _uuid(text: str) -> UUID:
    """The id in the path. Raises NotFound for what cannot be one."""
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound("There is no such write decision.") from error
