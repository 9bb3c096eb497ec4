"""A language model of an OpenAI-compatible server that answers in a given form."""

import re
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from providers.errors import LLMRefused, LLMUnavailable
from providers.messages import Message
from providers.metering import Usage, report
from providers.openai.endpoint import PROVIDER, Endpoint, Rejected, Unreachable, Unusable
from providers.openai.schema import response_format, schema_text
from providers.prompts import load_prompt

T = TypeVar("T", bound=BaseModel)
PROMPTS = Path(__file__).parent / "prompts"
# From the best to what every server knows; with the last two, the schema stands in the prompt.
FORMATS = ("json_schema", "json_object", "text")
CODE_FENCE = re.compile(r"\s*```\w*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)


class _OffSchema(Exception):
    """The answer is not valid; the text lists its errors, without the answer's own words."""


class OpenAIChat:
    """One model at one address; contract: `providers.llm.LLM`."""

    def __init__(self, endpoint: Endpoint, *, seconds: float) -> None:
        """`seconds`: for one `complete`, retries and the repair together."""
        self.provider, self.model = PROVIDER, endpoint.model
        self._endpoint, self._seconds = endpoint, seconds
        self._formats: dict[type[BaseModel], str] = {}  # the best that the server has accepted for an answer

    def complete(
        self, *, messages: Sequence[Message], answer: type[T], purpose: str, seconds: float | None = None
    ) -> T:
        """Asks once more with the errors when the answer is not valid. Raises LLMUnavailable, LLMRefused."""
        deadline = time.monotonic() + min(self._seconds, seconds or self._seconds)
        text = self._reply(messages, answer, purpose, deadline)
        try:
            return parse(text, answer)
        except _OffSchema as error:
            self._count_failure(purpose)
            errors = load_prompt(PROMPTS, "repair").messages(errors=str(error))
        repaired = self._reply([*messages, Message("assistant", text), *errors], answer, purpose, deadline)
        try:
            return parse(repaired, answer)
        except _OffSchema as error:
            self._count_failure(purpose)
            raise LLMRefused(f"The answer is no valid {answer.__name__}: {error}") from None

    def _reply(
        self, messages: Sequence[Message], answer: type[BaseModel], purpose: str, deadline: float
    ) -> str:
        """The text of the answer, in the best format that the server knows."""
        known = self._formats.get(answer, FORMATS[0])
        for kind in FORMATS[FORMATS.index(known) :]:
            try:
                choice = self._endpoint.ask(
                    "/chat/completions",
                    self._body(messages, answer, kind),
                    purpose=purpose,
                    deadline=deadline,
                    read=read_choice,
                )
            except Rejected as error:
                if kind == FORMATS[-1] or not _is_about_format(error.detail):
                    raise LLMRefused(str(error)) from None
                continue
            except Unreachable as error:
                raise LLMUnavailable(str(error), error.retry_after) from None
            self._formats[answer] = kind
            return self._text_of(choice, purpose)
        raise AssertionError("the last format either answers or raises")

    def _body(self, messages: Sequence[Message], answer: type[BaseModel], kind: str) -> dict[str, Any]:
        shown = [asdict(message) for message in messages]
        if kind == "json_schema":
            return {
                "model": self.model,
                "messages": shown,
                "response_format": response_format(answer, kind),
            }
        instruction = load_prompt(PROMPTS, "answer_schema").fill(schema=schema_text(answer))
        shown.insert(0, {"role": "system", "content": instruction})
        extra = {} if kind == "text" else {"response_format": response_format(answer, kind)}
        return {"model": self.model, "messages": shown, **extra}

    def _text_of(self, choice: dict[str, Any], purpose: str) -> str:
        """Raises LLMRefused when the model did not finish, or would not."""
        message = choice["message"]
        if choice.get("finish_reason") == "length":
            self._refuse("The answer was cut off at the model's limit.", purpose)
        if choice.get("finish_reason") == "content_filter":
            self._refuse("The provider's content filter withheld the answer.", purpose)
        if message.get("refusal"):
            self._refuse("The model refused to answer.", purpose)
        content = message.get("content")
        return content if isinstance(content, str) else ""

    def _refuse(self, reason: str, purpose: str) -> NoReturn:
        self._count_failure(purpose)
        raise LLMRefused(reason)

    def _count_failure(self, purpose: str) -> None:
        """Of a request that is counted already: it was answered, but not usably."""
        report(Usage(PROVIDER, self.model, purpose, failures=1))


def read_choice(answer: dict[str, Any]) -> dict[str, Any]:
    """The first choice of a chat completion. Raises Unusable."""
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise Unusable("The provider's answer is no chat completion.")
    return choice


def parse(text: str, answer: type[T]) -> T:
    """The answer in a text of JSON, which may stand in a code fence. Raises _OffSchema."""
    fenced = CODE_FENCE.fullmatch(text)
    try:
        return answer.model_validate_json(fenced[1] if fenced else text)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        lines = [f"{'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in found[:20]]
        raise _OffSchema("; ".join(lines)) from None


def _is_about_format(detail: str) -> bool:
    return any(word in detail.lower() for word in ("response_format", "json_schema", "json_object", "schema"))
