"""The four memory classes of LangChain, on the server."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from strata_memory import StrataClient
from strata_memory.langchain import (
    ConversationBufferMemory,
    ConversationBufferWindowMemory,
    ConversationSummaryMemory,
    StrataRetriever,
    VectorStoreRetrieverMemory,
)

from tests.conftest import Member


@pytest.fixture
def client(acme: Member) -> Iterator[StrataClient]:
    with StrataClient(str(acme.http.base_url), acme.key, user_id="ana", timeout=60) as client:
        yield client


def say(memory: Any, *exchanges: tuple[str, str]) -> None:
    for asked, answered in exchanges:
        memory.save_context({"input": asked}, {"output": answered})


def facts(first: int, last: int) -> list[tuple[str, str]]:
    return [(f"Fact {number} is so.", f"Noted fact {number}.") for number in range(first, last + 1)]


def test_a_buffer_tells_everything_as_text_or_as_messages(client: StrataClient) -> None:
    memory = ConversationBufferMemory(client=client, session_id="s")
    say(memory, ("My name is Ada.", "Hello Ada."), ("Hm.", "Yes?"))

    assert memory.load_memory_variables({}) == {
        "history": "Human: My name is Ada.\nAI: Hello Ada.\nHuman: Hm.\nAI: Yes?"
    }
    other = ConversationBufferMemory(
        client=client, session_id="s", return_messages=True, memory_key="chat_history"
    )
    assert other.memory_variables == ["chat_history"]
    assert other.load_memory_variables({"input": "?"})["chat_history"][:2] == [
        HumanMessage("My name is Ada."),
        AIMessage("Hello Ada."),
    ]


def test_the_speakers_may_be_called_otherwise(client: StrataClient) -> None:
    memory = ConversationBufferMemory(client=client, human_prefix="Ana", ai_prefix="Bot")
    say(memory, ("Hello", "Hi"))

    assert memory.buffer == "Ana: Hello\nBot: Hi"


def test_memories_without_a_session_have_one_of_their_own(client: StrataClient) -> None:
    one, other = ConversationBufferMemory(client=client), ConversationBufferMemory(client=client)
    say(one, ("Hello", "Hi"))

    assert other.load_memory_variables({}) == {"history": ""}


def test_the_server_of_the_environment_is_meant_without_a_client(
    acme: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATA_URL", str(acme.http.base_url))
    monkeypatch.setenv("STRATA_API_KEY", acme.key)
    memory = ConversationBufferWindowMemory(k=6, return_messages=True, memory_key="history")
    say(memory, ("Hello", "Hi"))

    assert memory.load_memory_variables({}) == {"history": [HumanMessage("Hello"), AIMessage("Hi")]}


def test_keys_choose_what_was_said_among_several_values(client: StrataClient) -> None:
    memory = ConversationBufferMemory(client=client, input_key="question", output_key="answer")
    memory.save_context({"question": "Why?", "lang": "en"}, {"answer": "So.", "sources": "none"})

    assert memory.buffer == "Human: Why?\nAI: So."


def test_which_of_several_values_was_said_is_not_guessed(client: StrataClient) -> None:
    memory = ConversationBufferMemory(client=client)
    with pytest.raises(ValueError, match="input_key"):
        memory.save_context({"question": "Why?", "lang": "en"}, {"answer": "So."})
    with pytest.raises(ValueError, match="output_key"):
        memory.save_context({"question": "Why?"}, {"answer": "So.", "sources": "none"})
    memory.save_context({"question": "Why?", "history": "", "stop": []}, {"output": "So.", "sources": "none"})

    assert memory.buffer == "Human: Why?\nAI: So."


def test_a_window_tells_the_newest_exchanges(client: StrataClient) -> None:
    memory = ConversationBufferWindowMemory(client=client, session_id="s", k=2, return_messages=True)
    say(memory, *facts(1, 4))

    told = memory.load_memory_variables({})["history"]
    assert [one.content for one in told] == [
        "Fact 3 is so.",
        "Noted fact 3.",
        "Fact 4 is so.",
        "Noted fact 4.",
    ]
    assert ConversationBufferWindowMemory(client=client, session_id="s", k=0).buffer == ""


def test_clearing_forgets_the_conversation(client: StrataClient) -> None:
    memory = ConversationBufferMemory(client=client, session_id="s")
    say(memory, ("Hello", "Hi"))
    memory.clear()

    assert memory.load_memory_variables({}) == {"history": ""}


def test_the_asynchronous_methods_do_the_same(client: StrataClient) -> None:
    async def scenario() -> None:
        memory = ConversationBufferMemory(client=client)
        await memory.asave_context({"input": "Hello"}, {"output": "Hi"})
        assert await memory.aload_memory_variables({}) == {"history": "Human: Hello\nAI: Hi"}
        await memory.aclear()
        assert await memory.aload_memory_variables({}) == {"history": ""}

    asyncio.run(scenario())


def test_a_summary_tells_the_newest_exchanges_in_full(client: StrataClient) -> None:
    memory = ConversationSummaryMemory(client=client, return_messages=True)
    say(memory, ("I prefer dark mode and vim keybindings.", "Noted."))

    assert memory.load_memory_variables({}) == {
        "history": [HumanMessage("I prefer dark mode and vim keybindings."), AIMessage("Noted.")]
    }


def test_older_exchanges_become_a_summary_without_any_model(client: StrataClient) -> None:
    memory = ConversationSummaryMemory(client=client, session_id="s", k=2, every=2, return_messages=True)
    say(memory, ("Hi! I prefer dark mode.", "Noted."), *facts(2, 5))

    summary, *recent = memory.load_memory_variables({})["history"]
    assert summary == SystemMessage("Human: I prefer dark mode.\nHuman: Fact 2 is so.\nAI: Noted fact 2.")
    assert [one.content for one in recent[::2]] == ["Fact 3 is so.", "Fact 4 is so.", "Fact 5 is so."]


def test_another_process_goes_on_from_the_same_summary(client: StrataClient) -> None:
    limits = {"client": client, "session_id": "s", "k": 1, "every": 1}
    say(ConversationSummaryMemory(**limits), *facts(1, 2))
    second = ConversationSummaryMemory(**limits)
    say(second, *facts(3, 3))

    assert second.buffer.splitlines()[::2] == ["Human: Fact 1 is so.", "Human: Fact 2 is so."]
    assert second.load_memory_variables({})["history"].endswith("Human: Fact 3 is so.\nAI: Noted fact 3.")
    second.clear()
    assert second.buffer == ""


def test_a_model_may_write_the_summary(client: StrataClient) -> None:
    model = FakeListChatModel(responses=["One fact.", "Two facts."])
    memory = ConversationSummaryMemory(client=client, llm=model, k=1, every=1)
    say(memory, *facts(1, 3))

    assert memory.buffer == "Two facts."
    assert memory.load_memory_variables({})["history"].startswith("Two facts.\nHuman: Fact 3")


def test_a_summary_is_no_message_of_the_conversation(client: StrataClient) -> None:
    say(ConversationSummaryMemory(client=client, session_id="s", k=1, every=1), *facts(1, 2))

    assert len(ConversationBufferMemory(client=client, session_id="s").buffer_as_messages) == 4


def test_an_event_that_another_client_calls_a_summary_is_passed_over(client: StrataClient) -> None:
    memory = ConversationSummaryMemory(client=client, session_id="s", k=1, every=1)
    say(memory, *facts(1, 2))
    for metadata in ({}, {"upto": "soon"}, {"upto": -5}, {"upto": 10**9}):
        client.sessions.append_event(
            "s", event_type="conversation_summary", content="theirs", metadata=metadata
        )

    assert memory.buffer.splitlines()[0] == "Human: Fact 1 is so."


def test_exchanges_are_found_again_by_what_they_were_about(client: StrataClient) -> None:
    memory = VectorStoreRetrieverMemory(client=client, k=1)
    say(
        memory,
        ("Hello! We shipped feature flags on Tuesday.", "I'll remember that milestone."),
        ("My dog is called Rex.", "What a fine name."),
        ("Hello!", "Hi, how can I help you today?"),
    )

    told = memory.load_memory_variables({"input": "When were the feature flags shipped?"})
    assert told == {
        "history": "Human: We shipped feature flags on Tuesday.\nAI: I'll remember that milestone."
    }
    assert client.episodes.list().results[0].text == "Human: My dog is called Rex.\nAI: What a fine name."


def test_what_was_said_before_is_neither_kept_nor_told_twice(client: StrataClient) -> None:
    memory = VectorStoreRetrieverMemory(client=client, k=2)
    say(memory, *[("My dog is called Rex.", "Noted.")] * 3)
    assert len(client.episodes.list().results) == 1

    for _twice in range(3):
        client.episodes.create(text="Human: My dog is called Rex.")
    client.episodes.create(text="Human: My dog sleeps in the kitchen.")
    told = memory.load_memory_variables({"input": "What is my dog called?"})["history"]
    assert sorted(told.splitlines()) == [
        "Human: My dog is called Rex.",
        "Human: My dog sleeps in the kitchen.",
    ]


def test_what_is_remembered_is_told_in_every_form(client: StrataClient) -> None:
    say(VectorStoreRetrieverMemory(client=client), ("My dog is called Rex.", "Noted."))
    asked = {"input": "What is the name of the dog?"}

    messages = VectorStoreRetrieverMemory(client=client, return_messages=True)
    assert messages.load_memory_variables(asked)["history"] == [SystemMessage("Human: My dog is called Rex.")]
    documents = VectorStoreRetrieverMemory(client=client, return_docs=True).load_memory_variables(asked)
    assert documents["history"][0].metadata["user_id"] == "ana"


def test_a_retriever_names_whose_memories_are_meant(client: StrataClient) -> None:
    def memory(user_id: str) -> VectorStoreRetrieverMemory:
        search_kwargs = {"k": 4, "filter": {"user_id": user_id}}
        return VectorStoreRetrieverMemory(
            retriever=StrataRetriever(client=client, search_kwargs=search_kwargs), memory_key="history"
        )

    say(memory("u_123"), ("My dog is called Rex.", "Noted."))

    asked = {"input": "What is the name of the dog?"}
    assert "Rex" in memory("u_123").load_memory_variables(asked)["history"]
    assert memory("u_124").load_memory_variables(asked) == {"history": ""}
    assert memory("u_123").load_memory_variables({"input": " "}) == {"history": ""}


def test_exchanges_are_kept_word_for_word_on_demand(client: StrataClient) -> None:
    memory = VectorStoreRetrieverMemory(client=client, summarise=False, exclude_input_keys=["lang"])
    memory.save_context({"input": "Hello!", "lang": "en"}, {"output": "Hi!"})

    assert client.episodes.list().results[0].text == "input: Hello!\noutput: Hi!"


def test_a_model_or_a_function_may_say_what_is_kept(client: StrataClient) -> None:
    model = FakeListChatModel(responses=["Rex is a dog.", "NOTHING."])
    say(VectorStoreRetrieverMemory(client=client, llm=model), ("My dog is Rex.", "Noted."), ("Hm", "Hm"))
    shout = VectorStoreRetrieverMemory(client=client, summarise=str.upper)
    say(shout, ("My cat is Tom.", "Noted."))

    told = [one.text for one in client.episodes.list().results]
    assert told == ["INPUT: MY CAT IS TOM.\nOUTPUT: NOTED.", "Rex is a dog."]


def test_what_may_not_be_remembered_does_not_end_the_conversation(client: StrataClient) -> None:
    memory = VectorStoreRetrieverMemory(client=client)
    say(memory, ("My card is 4111 1111 1111 1111.", "I should not know that."))
    memory.clear()

    assert client.episodes.list().results == []


@pytest.mark.parametrize(
    "narrow",
    [
        {"memory_type": ["semantic"]},
        {"memory_type": ["message", "semantic"]},
        {"topics": ["pets", "food"]},
        {"session_id": "s", "agent_id": "planner"},
    ],
)
def test_a_filter_finds_what_is_stored_through_it(client: StrataClient, narrow: dict[str, Any]) -> None:
    retriever = StrataRetriever(client=client, search_kwargs={"filter": narrow})
    memory = VectorStoreRetrieverMemory(retriever=retriever)
    say(memory, *[("My dog is called Rex.", "Noted.")] * 2)

    assert "Rex" in memory.load_memory_variables({"input": "What is the name of the dog?"})["history"]
    assert len(client.episodes.list().results) == 1


@pytest.mark.parametrize(
    "narrow",
    [{"project": "alpha"}, {"until": "2026-01-01T00:00:00Z"}],
)
def test_nothing_is_stored_where_the_filter_could_hide_it(
    client: StrataClient, narrow: dict[str, Any]
) -> None:
    retriever = StrataRetriever(client=client, search_kwargs={"filter": narrow})
    with pytest.raises(ValueError, match=f"a filter by {next(iter(narrow))}"):
        retriever.add_documents([Document("My dog is called Rex.")])

    assert client.episodes.list().results == []


def test_an_unknown_search_argument_is_refused(client: StrataClient) -> None:
    with pytest.raises(ValueError, match="filter"):
        StrataRetriever(client=client, search_kwargs={"filter": {"tenant": "x"}})
