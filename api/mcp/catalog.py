"""The table of tools, and who may see which."""

from api.mcp import documents, memory, record_search, records, working_memory
from api.mcp.connection import Connection
from api.mcp.tool import Arguments, Tool, UnknownTool
from tenants.agents.reading import agent_of

TOOLS: tuple[Tool, ...] = (
    memory.MEM_SAVE,
    memory.MEM_SEARCH,
    memory.MEM_CONTEXT,
    documents.SEARCH_DOCS,
    *record_search.TOOLS,
    *records.TOOLS,
    *working_memory.TOOLS,
)


def visible_tools(connection: Connection) -> list[Tool]:
    """The tools that the caller's scopes and its agent's settings leave."""
    agent = agent_of(caller=connection.caller, project=connection.project)
    return [
        tool
        for tool in TOOLS
        if connection.caller.may(tool.scope)
        and (agent is None or tool.allowed_by is None or tool.allowed_by(agent.memory))
    ]


def call_tool(connection: Connection, name: str, arguments: Arguments) -> str:
    """The text that the tool answers. Raises UnknownTool, also for one that the caller cannot see, and
    ToolError."""
    tool = next((tool for tool in visible_tools(connection) if tool.name == name), None)
    if tool is None:
        raise UnknownTool(name)
    return tool.run(connection, arguments)
