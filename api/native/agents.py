"""Agents: what is declared of their memory and tool hooks."""

from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import agent_schemas
from api.native.views import NativeView, page_size
from api.views import body_of, caller_of, checked_id, json_body, query_id
from tenants.agents.agents import Applied, DeletedAgent, access_agent, delete_agent, list_agents, put_agent
from tenants.agents.parsing import parse_yaml
from tenants.errors import Invalid
from tenants.models import Agent

YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")
LONGEST_YAML = 262_144  # bytes; several times what an agent may be as JSON
AFTER = OpenApiParameter(
    "cursor", parameters.LONGEST, description="Only agents behind this name: `next` of the answer before."
)


class AgentsView(NativeView):
    """`/api/v1/agents`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="agents_list",
        summary="Agents, by name",
        parameters=[parameters.LIMIT, AFTER],
        responses=agent_schemas.DeclaredAgentPage,
    )
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        found = list_agents(caller=caller_of(request), limit=limit + 1, after=query_id(request, "cursor"))
        following = found[limit - 1].name if len(found) > limit else None
        return Response({"results": [_shown(one) for one in found[:limit]], "next": following})


class AgentView(NativeView):
    """`/api/v1/agents/{name}`"""

    scopes = {"GET": "read", "PUT": "admin", "DELETE": "admin"}

    @extend_schema(summary="What is declared of an agent", responses=agent_schemas.DeclaredAgent)
    def get(self, request: Request, name: str) -> Response:
        return Response(_shown(access_agent(caller=caller_of(request), name=_named(name))))

    @extend_schema(
        summary="Declare an agent: its memory and tool hooks, or the whole Kubernetes resource",
        request=dict.fromkeys(("application/json", YAML[0]), agent_schemas.AgentDocument),
        responses={200: agent_schemas.DeclaredAgent, 201: agent_schemas.DeclaredAgent},
    )
    def put(self, request: Request, name: str) -> Response:
        put = partial(
            put_agent,
            caller=caller_of(request),
            name=_named(name),
            document=_document(request),
            now=timezone.now(),
        )
        return once(request, Applied, put, _applied)

    @extend_schema(summary="Forget what was declared of an agent", responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        delete = partial(delete_agent, caller=caller_of(request), name=_named(name))
        return once(request, DeletedAgent, delete, lambda _done: Response(status=204))


def _named(name: str) -> str:
    if name.endswith("/"):
        raise Invalid("May not end in a slash.", "name")
    return checked_id(name, "name")


def _document(request: Request) -> Any:
    """The body by its content type: YAML where that says so, else JSON."""
    media_type = request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    if media_type not in YAML:
        return json_body(request)
    documents = parse_yaml(body_of(request, longest=LONGEST_YAML))
    if len(documents) != 1:
        raise Invalid(f"Must be one YAML document, not {len(documents)}.")
    return documents[0]


def _applied(done: Applied) -> Response:
    return Response(_shown(done.agent), status=201 if done.created else 200)


def _shown(one: Agent) -> dict[str, Any]:
    return {
        "name": one.name,
        "spec": one.spec,
        "version": one.version,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }
