"""How slots are shown."""

from typing import Any

from rest_framework.response import Response

from api.errors import FieldProblem, Problem
from api.native import errors
from api.native.decisions import decision_answer
from episodic.entities import SlotWrite
from episodic.models import Entity, SlotStatus
from ledger.models import WriteDecision
from recall.gate import REFUSED

SEARCHED = (SlotStatus.CURRENT, SlotStatus.PENDING)
STATUS = {"created": 201, "pending": 202}  # else 200


def entity(one: Entity) -> dict[str, Any]:
    """A value of a slot."""
    return {
        "id": one.id,
        "user_id": one.user_id,
        "key": one.key,
        "value": one.value,
        "confidence": one.confidence,
        "status": one.status,
        "valid_from": one.valid_from,
        "valid_to": one.valid_to,
        "superseded_by": one.superseded_by,
        "source": one.source or None,
        "source_session": one.source_session or None,
        "source_turn": one.source_turn,
        "agent_id": one.agent_id or None,
        "pinned": one.pinned_at is not None,
        "embedded": one.status in SEARCHED and not one.embed_pending,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }


def written(done: object) -> Response:
    """Of a value that was sent: the slot, 202 with the decision that holds it back, or 422 naming the
    decision not to write it."""
    if isinstance(done, WriteDecision):
        return _decided(done)
    assert isinstance(done, SlotWrite)  # noqa: S101  `save_entity` answers nothing else
    assert done.entity is not None  # noqa: S101  only what was extracted is skipped without a row
    return Response(entity(done.entity), status=STATUS.get(done.action, 200))


def _decided(decision: WriteDecision) -> Response:
    if decision.outcome == WriteDecision.Outcome.HELD:
        return Response(decision_answer(decision), status=202)
    message = REFUSED[decision.reason]
    problem = errors.shape(Problem(422, message, (FieldProblem(("value",), message, decision.reason),)))
    told = {"decision_id": decision.id, "findings": decision.findings}
    problem["errors"] = [{**one, **told} for one in problem["errors"]]
    return Response(problem, status=422, content_type="application/problem+json")
