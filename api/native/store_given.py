"""Requests to the store, as the domain knows them."""

from typing import Any

from rest_framework.request import Request

from api.native.store_bodies import USUAL_LIMITS, NamedItem
from api.native.views import flag
from api.views import query_id, validated
from episodic.item_types import (
    ItemGet,
    ItemName,
    ItemRead,
    ItemSearch,
    NamespaceList,
    NamespaceMatch,
    NewItem,
    item_scope,
)
from tenants.caller import Caller

OWNERS = ("user_id", "agent_id", "project")


def named_in_query(request: Request, caller: Caller) -> ItemName:
    """The item that the query string names."""
    named = {
        "namespace": request.query_params.getlist("namespace"),
        "key": request.query_params.get("key"),
        "user_id": query_id(request, "user_id"),
        "agent_id": query_id(request, "agent_id"),
        "project": query_id(request, "project"),
    }
    given = {name: value for name, value in named.items() if value is not None}
    return item_name(caller, validated(NamedItem, given))


def refreshes(request: Request) -> bool:
    """Whether what is read begins to expire anew."""
    return flag(request, "refresh_ttl") is not False


def item_name(caller: Caller, body: dict[str, Any]) -> ItemName:
    """The item that a body names. Raises Forbidden for what is out of the key's reach."""
    owners = {name: body.get(name) for name in OWNERS}
    return ItemName(item_scope(caller, **owners), tuple(body["namespace"]), body["key"])


def new_item(caller: Caller, body: dict[str, Any]) -> NewItem:
    """The item that a body puts."""
    return NewItem(
        name=item_name(caller, body),
        value=body["value"],
        index=body.get("index"),
        ttl_minutes=body.get("ttl"),
        vectors=tuple((one["path"], one["vector"]) for one in body.get("vectors", ())),
    )


def item_read(caller: Caller, operation: str, body: dict[str, Any]) -> ItemRead:
    """What a body asks for."""
    if operation == "get":
        return ItemGet(item_name(caller, body), body.get("refresh_ttl", True))
    whose = item_scope(caller, **{name: body.get(name) for name in OWNERS})
    if operation == "search":
        return ItemSearch(
            whose=whose,
            prefix=tuple(body.get("namespace_prefix", ())),
            query=body.get("query") or "",
            vector=body.get("vector") or (),
            distance=body.get("distance", "cosine"),
            where=body.get("filter") or {},
            limit=body.get("limit", USUAL_LIMITS["search"]),
            offset=body.get("offset", 0),
            refresh=body.get("refresh_ttl", True),
        )
    matches = body.get("match_conditions") or ()
    return NamespaceList(
        whose=whose,
        matches=tuple(NamespaceMatch(one["match_type"], tuple(one["path"])) for one in matches),
        max_depth=body.get("max_depth"),
        limit=body.get("limit", USUAL_LIMITS["namespaces"]),
        offset=body.get("offset", 0),
    )
