"""The protocol's server, by the official SDK: lists the tools and calls them."""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol, TypeVar

import mcp_types as types
from django.conf import settings
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from api.errors import problem_of
from api.mcp.catalog import call_tool, visible_tools
from api.mcp.connection import Connection
from api.mcp.tool import Arguments, Tool, ToolError, UnknownTool

log = logging.getLogger(__name__)

INSTRUCTIONS = (
    "Strata keeps what is worth knowing in later sessions. Look there before you begin, and save what you "
    "decide, find out and learn as you go."
)
VERSION = str(settings.SPECTACULAR_SETTINGS["VERSION"])
SHOWN = 100  # characters of a name that nobody knows
T = TypeVar("T")


class Run(Protocol):
    """Does a piece of work where it may block, for asynchronous code that awaits what it answers."""

    async def __call__(self, work: Callable[[], T], /) -> T: ...


def make_server(*, connect: Callable[[], Connection], run: Run) -> Server[Any]:
    """A server for one connection or one request.

    The SDK is asynchronous, the domain is not, and asked by way of `run`. `connect` is part of that work, so
    that a connection that lives long can look again who is calling.
    """

    async def list_tools(
        _context: Any, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return await run(lambda: _answer(lambda: _list(connect())))

    async def call(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await run(lambda: _answer(lambda: _call(connect(), params.name, params.arguments or {})))

    server: Server[Any] = Server(
        "strata",
        title="Strata",
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call,
        get_tool_input_schema=lambda _name: None,  # no argument is asked for in a header
    )
    server.middleware.clear()  # its span would be named after whatever tool a client asks for
    return server


def _list(connection: Connection) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_described(tool) for tool in visible_tools(connection)])


def _call(connection: Connection, name: str, arguments: Arguments) -> types.CallToolResult:
    try:
        text, failed = call_tool(connection, name, arguments), False
    except ToolError as error:
        text, failed = str(error), True
    except UnknownTool as error:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name[:SHOWN]}") from error
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=failed)


def _answer(work: Callable[[], T]) -> T:
    """What the work answers. Raises nothing but MCPError: the SDK tells clients what others say."""
    try:
        return work()
    except MCPError:
        raise
    except Exception as error:  # the edge of our code
        problem = problem_of(error)
        if problem is None:
            log.exception("mcp_failed")
            raise MCPError(types.INTERNAL_ERROR, "Internal error") from error
        code = types.INTERNAL_ERROR if problem.status >= 500 else types.INVALID_REQUEST
        raise MCPError(code, problem.detail) from error


@cache
def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.reads_only,
            open_world_hint=False,
        ),
    )
