"""A question in words that are nearer to what is remembered, as a language model puts it."""

import logging
from uuid import UUID

from django.conf import settings
from pydantic import BaseModel, Field

from providers.llm import LLM, LLMRefused, LLMUnavailable, get_llm
from providers.prompts import load_prompt
from recall.answers import PROMPTS
from screening.injection import find_injection
from screening.sensitive import find_sensitive, mask
from tenants.usage import metered

log = logging.getLogger(__name__)
PURPOSE = "search_query"
SHORTEST = 2  # characters of what is worth searching for
LONGEST_SHOWN = 2_000  # characters of a question that the model is shown


class SearchQuery(BaseModel):
    """Answer to the prompt `search_query`."""

    query: str = Field(max_length=1_000)


def optimise(text: str, *, tenant_id: UUID) -> str:
    """What to search for in its place; the text itself without a language model, when the model does not
    answer in time, and when what it answers is of no use. Asks a provider, so never inside a scope."""
    llm = get_llm()
    shown = mask(text, find_sensitive(text))
    if llm is None or len(shown) > LONGEST_SHOWN or find_injection(text):
        return text
    try:
        with metered(tenant_id):
            query = _ask(llm, shown).strip()
    except (LLMUnavailable, LLMRefused) as error:
        log.warning("query_not_optimised: %s", error)
        return text
    return query if len(query) >= SHORTEST else text


def _ask(llm: LLM, question: str) -> str:
    messages = load_prompt(PROMPTS, PURPOSE).messages(question=question)
    seconds = settings.PROVIDER_INTERACTIVE_SECONDS
    return llm.complete(messages=messages, answer=SearchQuery, purpose=PURPOSE, seconds=seconds).query
