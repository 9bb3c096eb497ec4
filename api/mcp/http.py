"""`/mcp`: the protocol over streamable HTTP, without sessions, each request answered in JSON."""

from collections.abc import Callable
from functools import wraps
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from api.authentication import caller_of
from api.errors import Problem, problem_of
from api.mcp.connection import Connection, connect
from api.parsers import read_body
from tenants import log_context
from tenants.errors import Forbidden, Invalid
from tenants.scope import NoTenantScope

View = Callable[[HttpRequest], HttpResponse]
INVALID_REQUEST = -32600  # https://www.jsonrpc.org/specification#error_object


def _refusing(view: View) -> View:
    """Answers what the view refuses, as an error of JSON-RPC with the status that REST has for it."""

    @wraps(view)
    def answering(request: HttpRequest) -> HttpResponse:
        try:
            return view(request)
        except Exception as error:  # only to sort them: what is no refusal is raised again
            problem = None if isinstance(error, NoTenantScope) else problem_of(error)
            if problem is None:
                raise
            return _refusal(problem)

    return answering


@csrf_exempt  # no cookie identifies a caller here
@_refusing
def mcp_view(request: HttpRequest) -> HttpResponse:
    """`POST /mcp?project=…&session_id=…`: one message. There are no streams to GET, no sessions to DELETE."""
    connection = _connection(request)
    if request.method != "POST":
        return _refusal(Problem(405, "Send messages with POST.", headers={"Allow": "POST"}))
    body = read_body(request)
    from api.mcp.bridge import answer  # the SDK takes 40 MB, where nobody may need it

    answered = answer(connection, headers=request.headers, body=body)
    return HttpResponse(answered.body, status=answered.status, headers=answered.headers)


def _connection(request: HttpRequest) -> Connection:
    """Whom the request speaks for. Raises Unauthenticated, Forbidden, Invalid."""
    caller = caller_of(request)
    log_context.bind_caller(caller)
    if not caller.may("read") and not caller.may("write"):
        raise Forbidden("This needs a key with scope read or write.")
    try:
        unquote_to_bytes(request.META.get("QUERY_STRING", "")).decode()
    except UnicodeDecodeError as error:
        raise Invalid("Must be UTF-8.", "query") from error
    return connect(
        caller=caller,
        project=request.GET.get("project", ""),
        session_id=request.GET.get("session_id", ""),
    )


def _refusal(problem: Problem) -> JsonResponse:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": problem.detail}}
    return JsonResponse(body, status=problem.status, headers=problem.headers)
