"""The tools that search long-term records, and put what is remembered around a question."""

from django.utils import timezone

from api.mcp.connection import Connection
from api.mcp.failing import failing_as
from api.mcp.record_answers import found, told
from api.mcp.record_arguments import parse, schema_of
from api.mcp.records import refuse_if_disabled
from api.mcp.search_arguments import PromptArguments, SearchArguments
from api.mcp.tool import Arguments, Tool, ToolError
from recall.long_term import search_records
from recall.long_term_prompt import memory_prompt

NOTHING = "Either session_id or include_long_term_search must be given"


def search(connection: Connection, given: Arguments) -> str:
    """`search_long_term_memory`"""
    refuse_if_disabled()
    asked = parse(SearchArguments, given)
    query = asked.query(asked.text)
    with failing_as("search failed"):
        answer = search_records(caller=connection.caller, query=query, now=timezone.now())
    memories = [found(one) for one in answer.records]
    return told({"memories": memories, "total": answer.total, "next_offset": answer.next_offset})


def prompt(connection: Connection, given: Arguments) -> str:
    """`memory_prompt`"""
    asked = parse(PromptArguments, given)
    if asked.include_long_term_search:
        refuse_if_disabled()
    session, search = asked.session(), asked.search()
    if session is None and search is None:
        raise ToolError(NOTHING)
    with failing_as("failed to make the prompt"):
        made = memory_prompt(
            caller=connection.caller,
            query=asked.question,
            session=session,
            search=search,
            now=timezone.now(),
        )
    messages = [{"role": one.role, "content": {"type": "text", "text": one.text}} for one in made.messages]
    return told(
        {
            "messages": messages,
            "long_term_memories": [found(one) for one in made.long_term_memories or ()],
        }
    )


SEARCH_LONG_TERM_MEMORY = Tool(
    name="search_long_term_memory",
    title="Search long-term records",
    description=(
        "Search the facts that are kept for good: what the user prefers or is, what was decided, what "
        "happened. Takes plain language, and filters that all have to be met; with filters alone the newest "
        "are listed. Answers JSON, best first: memories with their ids, the smaller dist the nearer; total, "
        "and next_offset while there are more."
    ),
    schema=schema_of(SearchArguments),
    scope="read",
    run=search,
    allowed_by=lambda memory: memory.auto_search,
)
MEMORY_PROMPT = Tool(
    name="memory_prompt",
    title="Put memory around a question",
    description=(
        "A question with what is remembered around it, as messages that are ready for a language model: the "
        "summary and the messages of the session, the long-term records that belong to the question, and the "
        "question. Call it instead of searching when the whole context of an answer is wanted."
    ),
    schema=schema_of(PromptArguments),
    scope="read",
    run=prompt,
    allowed_by=lambda memory: memory.auto_search,
)
TOOLS = (SEARCH_LONG_TERM_MEMORY, MEMORY_PROMPT)
