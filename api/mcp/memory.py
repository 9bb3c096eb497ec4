"""The tools that save, search and recall observations."""

from django.utils import timezone

from api.mcp.arguments import free_text_of, free_texts_of, limit_of, text_of
from api.mcp.connection import Connection
from api.mcp.failing import failing_as
from api.mcp.tool import Arguments, Tool, ToolError
from observations.saving import save_observation
from observations.search import search_observations
from observations.types import NewObservation, ObservationFilter
from recall.context import LIMIT, ContextQuery, fetch_context

DEFAULT_TYPE = "discovery"
TYPES = ("decision", "discovery", "bugfix", "pattern", "architecture", "config", "learning", "preference")
SEARCHED = 10  # what is answered when no limit is named


def save(connection: Connection, given: Arguments) -> str:
    """`mem_save`: one observation in the connection's project and session."""
    title, content = free_text_of(given, "title"), free_text_of(given, "content")
    kind = text_of(given, "type").strip() or DEFAULT_TYPE
    if not title.strip() or not content.strip():
        raise ToolError("title and content are required")
    new = NewObservation(
        session_id=connection.session_id,
        type=kind,
        title=title,
        content=content,
        project=connection.project,
        tags=free_texts_of(given, "tags"),
    )
    with failing_as("failed to save memory"):
        save_observation(caller=connection.caller, new=new, now=timezone.now())
    return f"Saved [{kind}] {title}"


def search(connection: Connection, given: Arguments) -> str:
    """`mem_search`: what the connection's project says about a query, best first."""
    query, limit = free_text_of(given, "query"), limit_of(given, SEARCHED)
    if not query.strip():
        raise ToolError("query is required")
    where = ObservationFilter(project=connection.project)
    with failing_as("search failed"):
        hits = search_observations(caller=connection.caller, text=query, where=where, limit=limit)
    if not hits:
        return "No memories found matching the query."
    found = (
        f"{position}. [{hit.observation.type}] {hit.observation.title} (rank: {hit.rank:.1f})\n"
        f"   {hit.observation.content}\n\n"
        for position, hit in enumerate(hits, 1)
    )
    return f"Found {len(hits)} memories:\n\n{''.join(found)}"


def context(connection: Connection, given: Arguments) -> str:
    """`mem_context`: the latest sessions and observations of the connection's project."""
    asked = limit_of(given, 0) or None  # as many as the agent is told at each turn
    query = ContextQuery(project=connection.project, limit=asked)
    with failing_as("failed to fetch memory context"):
        found = fetch_context(caller=connection.caller, query=query, now=timezone.now())
    return found.render() or "No recent memory context available."


MEM_SAVE = Tool(
    name="mem_save",
    title="Save a memory",
    description=(
        "Save an observation to long-term memory, for this and later sessions. Call it, unasked, after "
        "finishing meaningful work: a decision and its reasons, the cause of a bug and its fix, how a thing "
        "is built or configured, what the user prefers. Saving the same content again does no harm. "
        f"type is one of {', '.join(TYPES)}."
    ),
    schema={
        "type": "object",
        "properties": {
            "type": {"type": "string", "description": f"The kind of memory: {', '.join(TYPES)}."},
            "title": {"type": "string", "description": "One line: what was learned or decided."},
            "content": {
                "type": "string",
                "description": "The memory itself: what, why, how to apply it. Must make sense alone.",
            },
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Words to find it by, at most 20.",
            },
        },
        "required": ["type", "title", "content"],
    },
    scope="write",
    run=save,
    allowed_by=lambda memory: memory.auto_save,
)
MEM_SEARCH = Tool(
    name="mem_search",
    title="Search memories",
    description=(
        "Search long-term memory for what was saved earlier: decisions, discoveries, bug fixes, patterns, "
        "architecture, configuration, learnings, preferences. Takes key words or a whole question; a topic "
        "key such as database/pool is looked up as it is. Answers the best first, in full; the smaller its "
        "rank, the better it matches."
    ),
    schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Key words, or a question in plain language."},
            "limit": {
                "type": "integer",
                "description": f"How many to answer at most, {SEARCHED} if left out.",
            },
        },
        "required": ["query"],
    },
    scope="read",
    run=search,
    allowed_by=lambda memory: memory.auto_search,
)
MEM_CONTEXT = Tool(
    name="mem_context",
    title="Recall recent memory",
    description=(
        "Recall what happened lately in this project: summaries of the last sessions and the newest "
        "observations. Call it at the beginning of work, or to refresh what you know in the middle of it."
    ),
    schema={
        "type": "object",
        "properties": {
            "limit": {
                "type": "integer",
                "description": f"How many observations to answer at most, {LIMIT} if left out.",
            },
        },
    },
    scope="read",
    run=context,
)
