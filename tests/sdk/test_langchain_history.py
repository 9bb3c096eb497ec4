"""A LangChain chat history over a session of the server."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory
from strata_memory import StrataClient
from strata_memory.langchain import StrataChatMessageHistory

from tests.conftest import Member

CALL = {"name": "calc", "args": {"a": 1}, "id": "call_1", "type": "tool_call"}


def client_of(member: Member) -> StrataClient:
    return StrataClient(str(member.http.base_url), member.key, user_id="ana", timeout=60)


@pytest.fixture
def client(acme: Member) -> Iterator[StrataClient]:
    with client_of(acme) as client:
        yield client


@pytest.fixture
def history(client: StrataClient) -> StrataChatMessageHistory:
    return StrataChatMessageHistory("s", client=client)


def test_messages_with_tools_come_back_as_they_were(history: StrataChatMessageHistory) -> None:
    said: list[BaseMessage] = [
        HumanMessage("What is 1 + 1?", id="m1", name="ana"),
        AIMessage("", tool_calls=[CALL], id="m2"),
        ToolMessage("2", tool_call_id="call_1", name="calc", artifact={"raw": 2}),
        AIMessage("It is 2.", usage_metadata={"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}),
        HumanMessage(
            [{"type": "text", "text": "And this?"}, {"type": "image_url", "image_url": {"url": "u"}}]
        ),
    ]
    history.add_messages(said)

    assert history.messages == said


def test_an_unknown_session_has_no_messages(history: StrataChatMessageHistory) -> None:
    assert history.messages == []
    assert history.newest(3) == []
    history.clear()


def test_more_messages_than_a_page_are_all_there(history: StrataChatMessageHistory) -> None:
    said = [HumanMessage(str(number)) for number in range(1_001)]
    history.add_messages(said)

    assert history.messages == said


def test_a_message_whose_id_is_known_is_not_added_again(history: StrataChatMessageHistory) -> None:
    history.add_messages([HumanMessage("Hello", id="m1")])
    history.add_messages([HumanMessage("Hello", id="m1"), HumanMessage("Hello")])

    assert [one.id for one in history.messages] == ["m1", None]


def test_clearing_deletes_this_session_alone(client: StrataClient, history: StrataChatMessageHistory) -> None:
    other = StrataChatMessageHistory("other", client=client)
    for one in (history, other):
        one.add_user_message("Hello")
    history.clear()
    assert history.messages == []

    history.add_ai_message("Hi")
    assert history.messages == [AIMessage("Hi")]
    assert other.messages == [HumanMessage("Hello")]


def test_the_asynchronous_methods_do_the_same(history: StrataChatMessageHistory) -> None:
    async def scenario() -> None:
        await history.aadd_messages([HumanMessage("Hello")])
        assert await history.aget_messages() == [HumanMessage("Hello")]
        await history.aclear()
        assert await history.aget_messages() == []

    asyncio.run(scenario())


def test_what_several_replicas_append_at_once_is_all_there(acme: Member) -> None:
    def append(number: int) -> None:
        with client_of(acme) as client:
            StrataChatMessageHistory("s", client=client).add_user_message(str(number))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(12)))

    with client_of(acme) as client:
        told = {one.content for one in StrataChatMessageHistory("s", client=client).messages}
    assert told == {str(number) for number in range(12)}


def test_it_reads_what_other_clients_have_said(acme: Member, history: StrataChatMessageHistory) -> None:
    turns = [
        {"id": "t1", "role": "user", "content": "Hello"},
        {"id": "t2", "role": "assistant", "content": "Hi"},
    ]
    acme.http.post("/api/v1/sessions/s/turns", json={"user_id": "ana", "turns": turns}).raise_for_status()
    event = {"event_type": "delegation_request", "content": {"agent": "worker"}}
    acme.http.post("/api/v1/sessions/s/events?user_id=ana", json=event).raise_for_status()

    assert history.messages == [HumanMessage("Hello", id="t1"), AIMessage("Hi", id="t2")]


def test_users_do_not_read_each_others_sessions(acme: Member, history: StrataChatMessageHistory) -> None:
    history.add_user_message("Hello")
    bob = StrataChatMessageHistory("s", client=history.client, user_id="bob")

    assert bob.messages == []


def test_a_runnable_with_history_remembers(client: StrataClient) -> None:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{input}")])
    model = FakeListChatModel(responses=["Hello Ada.", "You are Ada."])
    chain = RunnableWithMessageHistory(
        prompt | model,
        lambda session_id: StrataChatMessageHistory(session_id, client=client),
        input_messages_key="input",
        history_messages_key="history",
    )
    config = {"configurable": {"session_id": "chat"}}
    chain.invoke({"input": "My name is Ada."}, config)
    asyncio.run(chain.ainvoke({"input": "What's my name?"}, config))

    said = StrataChatMessageHistory("chat", client=client).messages
    assert [(one.type, one.content) for one in said] == [
        ("human", "My name is Ada."),
        ("ai", "Hello Ada."),
        ("human", "What's my name?"),
        ("ai", "You are Ada."),
    ]
