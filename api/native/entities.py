"""Entity slots: what is believed of a user, key by key."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native.cursors import page, position_of
from api.native.decision_schemas import Decision
from api.native.entity_answers import entity, written
from api.native.entity_schemas import Entity as EntitySchema
from api.native.entity_schemas import EntityBody, EntityHistoryPage, EntityPage
from api.native.moments import aware_moment_of
from api.native.views import NativeView, flag, page_size
from api.views import caller_of, checked_id, json_body, query_id, validated
from episodic.entities import (
    DeletedSlot,
    EntityFilter,
    NewEntity,
    access_entity,
    confirm_entity,
    delete_entity,
    list_entities,
    list_history,
    pin_entity,
    search_entities,
    unpin_entity,
)
from episodic.models import Entity, SlotStatus
from recall.saving_entities import save_entity
from tenants.errors import Invalid

KEY = OpenApiParameter("key", parameters.LONGEST, description="Only the slots with this key.")
OF_STATUS = OpenApiParameter(
    "status", str, enum=SlotStatus.values, description="Only values of this status; by default `current`."
)
AS_OF = OpenApiParameter(
    "as_of", datetime, description="What held at that moment, which names its time zone; by default now."
)
QUERY = OpenApiParameter(
    "query", parameters.LONGEST, description="The slots of `user_id` that come nearest to this, best first."
)
WAITS = (
    "202: it waits. What an agent's key says of a high-impact key is a slot of status `pending`; what the "
    "policy holds back is a decision."
)
WAITING = PolymorphicProxySerializer(
    component_name="WaitingEntity", serializers=[EntitySchema, Decision], resource_type_field_name=None
)
OF = OpenApiParameter(
    "user_id",
    parameters.LONGEST,
    description="The user once more; needed where the id holds a slash. The rest of the path is the key.",
)
HARD = OpenApiParameter("hard", bool, description="`true`: the history goes as well.", default=False)


class EntitiesView(NativeView):
    """`/api/v1/entities`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="entities_list",
        summary="Slots, those written last first, or those nearest to a query",
        parameters=[*parameters.LIST, parameters.USER, KEY, OF_STATUS, AS_OF, QUERY],
        responses=EntityPage,
    )
    def get(self, request: Request) -> Response:
        limit, where = page_size(request), _filter(request)
        if (query := query_id(request, "query")) is not None:
            nearest = search_entities(caller=caller_of(request), where=where, query=query, limit=limit)
            found = [{**entity(one), "score": score} for one, score in nearest]
            return Response({"results": found, "next": None})
        listed = list_entities(
            caller=caller_of(request), where=where, limit=limit + 1, before=position_of(request)
        )
        return Response(page(listed, limit, moment=lambda one: one.updated_at, show=entity))


class EntityView(NativeView):
    """`/api/v1/entities/{user_id}/{key}`"""

    scopes = {"GET": "read", "PUT": "write", "DELETE": "write"}

    @extend_schema(summary="What a slot holds", parameters=[OF, AS_OF], responses=EntitySchema)
    def get(self, request: Request, user_id: str, key: str) -> Response:
        user_id, key = _meant(request, user_id, key)
        found = access_entity(
            caller=caller_of(request),
            user_id=user_id,
            key=key,
            as_of=aware_moment_of(query_id(request, "as_of"), "as_of"),
        )
        return Response(entity(found))

    @extend_schema(
        summary="Write a slot",
        description=WAITS,
        parameters=[OF],
        request=EntityBody,
        responses={200: EntitySchema, 201: EntitySchema, 202: WAITING},
    )
    def put(self, request: Request, user_id: str, key: str) -> Response:
        new = _statement(request, user_id, key)
        put = partial(save_entity, caller=caller_of(request), new=new, now=timezone.now())
        return once(request, object, put, written)

    @extend_schema(summary="Take back what a slot holds", parameters=[OF, HARD], responses={204: None})
    def delete(self, request: Request, user_id: str, key: str) -> Response:
        user_id, key = _meant(request, user_id, key)
        delete = partial(
            delete_entity,
            caller=caller_of(request),
            user_id=user_id,
            key=key,
            hard=bool(flag(request, "hard")),
            now=timezone.now(),
        )
        return once(request, DeletedSlot, delete, lambda _done: Response(status=204))


class EntityHistoryView(NativeView):
    """`/api/v1/entities/{user_id}/{key}/history`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="Every value of a slot, the latest first",
        parameters=[OF, *parameters.LIST],
        responses=EntityHistoryPage,
    )
    def get(self, request: Request, user_id: str, key: str) -> Response:
        limit, (user_id, key) = page_size(request), _meant(request, user_id, key)
        found = list_history(
            caller=caller_of(request),
            user_id=user_id,
            key=key,
            limit=limit + 1,
            before=position_of(request),
        )
        return Response(page(found, limit, moment=lambda one: one.valid_from, show=entity))


class EntityConfirmView(NativeView):
    """`POST /api/v1/entities/{user_id}/{key}/confirm`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Have the value that waits hold; not by a key bound to an agent",
        parameters=[OF],
        request=None,
        responses=EntitySchema,
    )
    def post(self, request: Request, user_id: str, key: str) -> Response:
        return _changed(request, confirm_entity, user_id, key)


class EntityPinView(NativeView):
    """`POST /api/v1/entities/{user_id}/{key}/pin`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Keep a slot's value against what is extracted",
        parameters=[OF],
        request=None,
        responses=EntitySchema,
    )
    def post(self, request: Request, user_id: str, key: str) -> Response:
        return _changed(request, pin_entity, user_id, key)


class EntityUnpinView(NativeView):
    """`POST /api/v1/entities/{user_id}/{key}/unpin`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Have a slot's value be replaced again",
        parameters=[OF],
        request=None,
        responses=EntitySchema,
    )
    def post(self, request: Request, user_id: str, key: str) -> Response:
        return _changed(request, unpin_entity, user_id, key)


def _changed(request: Request, change: Callable[..., Entity], user_id: str, key: str) -> Response:
    user_id, key = _meant(request, user_id, key)
    write = partial(change, caller=caller_of(request), user_id=user_id, key=key, now=timezone.now())
    return once(request, Entity, write, lambda done: Response(entity(done)))


def _statement(request: Request, user_id: str, key: str) -> NewEntity:
    user_id, key = _meant(request, user_id, key)
    body = validated(EntityBody, json_body(request))
    return NewEntity(
        user_id=user_id,
        key=key,
        value=body["value"],
        confidence=body.get("confidence", 1.0),
        source=body.get("source", "api"),
        session_id=body.get("source_session") or "",
        turn=body.get("source_turn"),
        agent_id=body.get("agent_id"),
        valid_from=body.get("valid_from"),
    )


def _meant(request: Request, user_id: str, key: str) -> tuple[str, str]:
    """Whose slot, and its key. The path comes decoded: whether its slashes were sent as `%2F` is not known.
    Where the user's id would hold one, the user has to be named once more, by the query or by what the API
    key is bound to; else a slash in the slot's key would lead to another user. Raises Invalid."""
    user_id, named = checked_id(user_id, "user_id"), query_id(request, "user_id")
    if named is None:
        if "/" in user_id and user_id != caller_of(request).user_id:
            raise Invalid("Holds a slash: name it in the query as well. A key holds none.", "user_id")
        return user_id, key
    path = f"{user_id}/{key}"
    if not path.startswith(f"{named}/"):
        raise Invalid("Contradicts user_id in the query.", "user_id")
    return named, path[len(named) + 1 :]


def _filter(request: Request) -> EntityFilter:
    return EntityFilter(
        user_id=query_id(request, "user_id"),
        key=query_id(request, "key"),
        status=query_id(request, "status"),
        as_of=aware_moment_of(query_id(request, "as_of"), "as_of"),
    )
