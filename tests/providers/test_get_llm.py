import os
from collections.abc import Iterator

import pytest
from django.core.exceptions import ImproperlyConfigured
from pydantic import BaseModel
from pytest_django import Settings

from memoryproject.checks import check_providers
from providers import llm
from providers.fake import FakeProvider
from providers.llm import Message, get_llm, reset_llm


class Answer(BaseModel):
    text: str


@pytest.fixture(autouse=True)
def _start_over() -> Iterator[None]:
    reset_llm()
    yield
    reset_llm()


@pytest.fixture
def chosen(settings: Settings, fake: FakeProvider) -> Settings:
    settings.LLM_PROVIDER, settings.LLM_MODEL = "openai", "gpt-4.1-mini"
    settings.LLM_BASE_URL, settings.LLM_API_KEY = fake.base_url, "k"
    return settings


def ask() -> str:
    found = get_llm()
    assert found is not None
    answer = found.complete(messages=[Message("user", "Kim likes trains.")], answer=Answer, purpose="test")
    return answer.text


def test_there_is_none_unless_one_is_chosen(settings: Settings) -> None:
    settings.LLM_PROVIDER = "none"
    assert get_llm() is None


def test_the_chosen_one_answers(chosen: Settings) -> None:
    assert ask() == "Kim likes trains."
    assert get_llm() is get_llm()


def test_its_key_is_its_own(chosen: Settings, fake: FakeProvider) -> None:
    fake.control(api_key="k")
    chosen.OPENAI_API_KEY = "another"
    assert ask()


@pytest.mark.parametrize(("name", "value"), [("LLM_PROVIDER", "oracle"), ("LLM_MODEL", "")])
def test_a_wrong_choice_is_refused(chosen: Settings, name: str, value: str) -> None:
    setattr(chosen, name, value)
    with pytest.raises(ImproperlyConfigured, match=name):
        get_llm()
    assert [one.id for one in check_providers(None)] == ["providers.E001"]


def test_a_forked_child_gets_one_of_its_own(chosen: Settings) -> None:
    ask()
    child = os.fork()
    if child == 0:
        os._exit(0 if not llm._process.built and ask() == "Kim likes trains." else 1)
    _pid, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert ask()
