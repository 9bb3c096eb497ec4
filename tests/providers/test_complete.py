"""Answers in a form that is asked for: the official client against the fake server."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from providers.errors import LLMRefused, LLMUnavailable
from providers.messages import Message
from providers.metering import metering
from providers.openai.schema import strict_schema
from providers.prompts import load_prompt
from recall.answers import PROMPTS, SessionSummary
from tests.providers.outside import chat_of, seconds_of

PATH = "/v1/chat/completions"
TRANSCRIPT = "user: Send order 4411 to Rotterdam.\nassistant: It is on its way.\nuser: Thanks."


class Fact(BaseModel):
    text: Annotated[str, Field(max_length=200)]
    kind: Literal["preference", "fact"]
    confidence: float = 0.5
    until: str | None = None


class Facts(BaseModel):
    title: str
    facts: list[Fact] = Field(max_length=10)


def complete(chat, answer=SessionSummary, transcript=TRANSCRIPT):
    messages = load_prompt(PROMPTS, "session_summary").messages(transcript=transcript)
    return chat.complete(messages=messages, answer=answer, purpose="session_summary")


def bodies(fake) -> list[dict]:
    return [one["body"] for one in fake.requests]


def test_the_answer_is_an_instance_of_what_was_asked_for(fake):
    answer = complete(chat_of(fake))
    assert isinstance(answer, SessionSummary)
    assert "4411" in answer.summary
    (body,) = bodies(fake)
    assert body["model"] == "gpt-4.1-mini"
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["strict"] is True


def test_nested_answers_work(fake):
    answer = complete(chat_of(fake), Facts)
    assert [fact.kind for fact in answer.facts] == ["preference"] * len(answer.facts)
    assert answer.facts[0].text == "user: Send order 4411 to Rotterdam."


def test_the_schema_is_of_the_strict_subset():
    schema = strict_schema(Facts)
    fact = schema["$defs"]["Fact"]
    for one in (schema, fact):
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
    assert fact["properties"]["text"] == {"type": "string", "description": "At most 200 characters."}
    assert "title" in schema["properties"]
    assert schema["properties"]["facts"]["description"] == "At most 10 items."
    assert "default" not in str(schema)


def test_json_in_a_code_fence_is_accepted(fake):
    fake.control(fenced=-1)
    assert complete(chat_of(fake)).summary
    assert fake.count(PATH) == 1


def test_an_answer_off_the_schema_is_repaired_once_with_its_errors(fake):
    fake.control(off_schema=1)
    assert complete(chat_of(fake)).summary
    first, second = bodies(fake)
    assert second["messages"][:2] == first["messages"]
    answered, errors = second["messages"][2:]
    assert (answered["role"], errors["role"]) == ("assistant", "user")
    assert "not_summary" in answered["content"]
    assert "summary: Field required" in errors["content"]


def test_an_answer_that_stays_off_the_schema_is_refused(fake):
    fake.control(off_schema=-1)
    with metering() as meter, pytest.raises(LLMRefused, match="SessionSummary: summary: Field required"):
        complete(chat_of(fake))
    assert fake.count(PATH) == 2
    assert [(one.calls, one.failures) for one in meter.totals()] == [(2, 2)]


@pytest.mark.parametrize("fault", ["truncated", "filtered", "refusal"])
def test_an_answer_that_the_model_did_not_finish_or_give_is_refused_at_once(fake, fault):
    fake.control(**{fault: -1})
    with metering() as meter, pytest.raises(LLMRefused):
        complete(chat_of(fake))
    assert fake.count(PATH) == 1
    assert [(one.calls, one.failures) for one in meter.totals()] == [(1, 1)]


@pytest.mark.parametrize("known", [["json_object", "text"], ["text"]])
def test_a_server_without_structured_output_is_given_the_schema_in_the_prompt_from_then_on(fake, known):
    fake.control(formats=known)
    chat = chat_of(fake)
    assert complete(chat).summary
    refused = fake.count(PATH) - 1
    assert complete(chat).summary
    assert fake.count(PATH) == refused + 2
    body = bodies(fake)[-1]
    assert body.get("response_format", {"type": "text"})["type"] == known[0]
    assert '"additionalProperties": false' in body["messages"][0]["content"]


def test_another_rejection_is_no_reason_to_ask_otherwise(fake):
    with pytest.raises(LLMRefused, match="400"):
        chat_of(fake).complete(messages=[Message("user", "x")], answer=Unanswerable, purpose="x")
    assert fake.count(PATH) == 1


class Unanswerable(BaseModel):
    """A schema that leads the fake into a KeyError, which it answers 400."""

    @classmethod
    def model_json_schema(cls, *args, **named):
        return {"$ref": "#/missing"}


@pytest.mark.parametrize("fault", [{"wrong": -1}, {"rate_limited": -1}, {"dead": -1},
                                   {"wrong": -1, "wrong_kind": "garbage"}])  # fmt: skip
def test_a_server_that_fails_means_no_answer_for_now(fake, fault):
    fake.control(**fault)
    with pytest.raises(LLMUnavailable):
        complete(chat_of(fake, retries=1))
    assert fake.count(PATH) == 2


def test_a_wrong_key_means_no_answer_for_now(fake):
    """It is the operator who has to do something; the same request may succeed afterwards."""
    fake.control(api_key="another")
    with pytest.raises(LLMUnavailable, match="401"):
        complete(chat_of(fake))


def test_the_repair_keeps_the_deadline_too(fake):
    fake.control(off_schema=-1, slow=0.7)

    def ask() -> None:
        with pytest.raises(LLMUnavailable):
            complete(chat_of(fake, seconds=1))

    assert seconds_of(ask) < 10


def test_usage_is_what_the_server_says(fake):
    with metering() as meter:
        chat_of(fake).complete(messages=[Message("user", "one two three")], answer=Facts, purpose="facts")
    (usage,) = meter.totals()
    assert (usage.calls, usage.failures, usage.input_tokens, usage.purpose) == (1, 0, 3, "facts")
    assert usage.output_tokens > 10


def test_refusals_do_not_repeat_the_answer(fake):
    fake.control(off_schema=-1)
    with pytest.raises(LLMRefused) as caught:
        complete(chat_of(fake))
    assert "4411" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
