"""Items of the store: JSON objects by a namespace and a key. What is read goes to the client as PostgreSQL
makes it."""

import json
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import store_bodies as bodies
from api.native import store_schemas as schemas
from api.native.decisions import refused_answer
from api.native.store_given import item_name, item_read, named_in_query, new_item, refreshes
from api.native.views import NativeView
from api.views import caller_of, json_body, validated
from episodic.items import get_item, read_items
from recall.saving_items import ItemWrite, SavedItems, save_items
from tenants.errors import Forbidden

NAMESPACE = OpenApiParameter(
    "namespace",
    {"type": "array", "items": parameters.LONGEST},
    required=True,
    description="The labels of the namespace, in order: repeated.",
)
KEY = OpenApiParameter(
    "key",
    {"type": "string", "minLength": 1, "maxLength": bodies.LONGEST_KEY},
    required=True,
    description="The item's key.",
)
REFRESH = OpenApiParameter(
    "refresh_ttl", bool, default=True, description="Whether an item that expires begins to do so anew."
)
NAMED = [NAMESPACE, KEY, *parameters.OWNERS]
WRITES = ("put", "delete")


class ItemsView(NativeView):
    """`/api/v1/store/items`"""

    scopes = {"GET": "read", "PUT": "write", "DELETE": "write"}

    @extend_schema(
        operation_id="store_items_get",
        summary="An item of the store",
        parameters=[*NAMED, REFRESH],
        responses=schemas.StoreItem,
    )
    def get(self, request: Request) -> HttpResponse:
        caller = caller_of(request)
        name = named_in_query(request, caller)
        return _as_it_is(get_item(caller=caller, name=name, refresh=refreshes(request), now=timezone.now()))

    @extend_schema(
        operation_id="store_items_put",
        summary="Put an item into the store, in place of the one of that name",
        request=bodies.PutItem,
        responses={204: None},
    )
    def put(self, request: Request) -> Response:
        return _written(
            request, [new_item(caller_of(request), validated(bodies.PutItem, json_body(request)))]
        )

    @extend_schema(
        operation_id="store_items_delete",
        summary="Delete an item of the store for good, if it is there",
        parameters=NAMED,
        responses={204: None},
    )
    def delete(self, request: Request) -> Response:
        return _written(request, [named_in_query(request, caller_of(request))])


class SearchView(NativeView):
    """`POST /api/v1/store/items/search`"""

    scopes = {"POST": "read"}

    @extend_schema(
        summary="Items below a namespace: those nearest to the query, or those put last",
        request=bodies.SearchItems,
        responses=schemas.FoundStoreItems,
    )
    def post(self, request: Request) -> HttpResponse:
        return _found(request, "search", validated(bodies.SearchItems, json_body(request)))


class NamespacesView(NativeView):
    """`POST /api/v1/store/namespaces`"""

    scopes = {"POST": "read"}

    @extend_schema(
        summary="Namespaces that hold items, in order",
        request=bodies.ListNamespaces,
        responses=schemas.StoreNamespaces,
    )
    def post(self, request: Request) -> HttpResponse:
        return _found(request, "namespaces", validated(bodies.ListNamespaces, json_body(request)))


class BatchView(NativeView):
    """`POST /api/v1/store/batch`"""

    scopes = {"POST": "read"}

    @extend_schema(
        summary="Several operations at once: what is read is as it was before what is written",
        request=bodies.Operations,
        responses=schemas.StoreBatch,
    )
    def post(self, request: Request) -> Response | HttpResponse:
        caller = caller_of(request)
        operations = validated(bodies.Operations, json_body(request))["operations"]
        places = [at for at, (name, _body) in enumerate(operations) if name in WRITES]
        if places and not caller.may("write"):
            raise Forbidden("This key may not write.")
        reads = [item_read(caller, name, body) for name, body in operations if name not in WRITES]
        writes: list[ItemWrite] = [
            new_item(caller, body) if name == "put" else item_name(caller, body)
            for name, body in operations
            if name in WRITES
        ]
        found = iter(read_items(caller=caller, reads=reads, now=timezone.now()))
        results = ["null" if name in WRITES else next(found) for name, _body in operations]
        if not writes:
            return _as_it_is(_listed(results))
        return _written(request, writes, places=places, results=results)


def _written(
    request: Request,
    writes: list[ItemWrite],
    *,
    places: list[int] | None = None,
    results: list[str] | None = None,
) -> Response:
    """204, or 200 with the results of a batch; 422 naming what may not be remembered."""

    def answer(done: SavedItems) -> Response:
        if done.refused:
            before: list[tuple[str | int, ...]] = [("operations", at) for at in places or ()]
            return refused_answer(
                [((*(before[at] if before else ()), "value"), one) for at, one in done.refused]
            )
        return Response(status=204) if results is None else Response(json.loads(_listed(results)))

    save = partial(save_items, caller=caller_of(request), writes=writes, now=timezone.now())
    return once(request, SavedItems, save, answer)


def _found(request: Request, operation: str, body: dict[str, Any]) -> HttpResponse:
    caller = caller_of(request)
    (found,) = read_items(caller=caller, reads=[item_read(caller, operation, body)], now=timezone.now())
    return _as_it_is(f'{{"results": {found}}}')


def _listed(results: list[str]) -> str:
    return f'{{"results": [{", ".join(results)}]}}'


def _as_it_is(answer: str) -> HttpResponse:
    return HttpResponse(answer, content_type="application/json")
