"""A graph whose nodes remember: LangGraph injects the store, run after run and thread after thread."""

import asyncio
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore, GetOp, PutOp
from strata_memory import AsyncStrataClient
from strata_memory.errors import Unauthenticated
from strata_memory.langgraph import AsyncStrataStore, Slot, StrataStore, digest, entities, window
from typing_extensions import TypedDict

from tests.conftest import Member

NOTES = ("kim", "notes")


class State(TypedDict):
    messages: Annotated[list[AnyMessage], window(2, fold=digest())]
    facts: Annotated[dict[str, Slot], entities()]


def answered(said: str, known: list[Any]) -> dict[str, Any]:
    told = known[0].value["text"] if known else "nothing"
    return {"messages": AIMessage(f"I know: {told}"), "facts": {"last question": said}}


def remember(state: State, *, store: BaseStore) -> dict[str, Any]:
    said = str(state["messages"][-1].content)
    known = store.search(NOTES, query=said, limit=1)
    store.put(NOTES, str(len(said)), {"text": said})
    return answered(said, known)


async def aremember(state: State, *, store: BaseStore) -> dict[str, Any]:
    said = str(state["messages"][-1].content)
    known = await store.asearch(NOTES, query=said, limit=1)
    await store.aput(NOTES, str(len(said)), {"text": said})
    return answered(said, known)


def graph_of(node: Any, store: BaseStore) -> Any:
    builder = StateGraph(State)
    builder.add_node("remember", node)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    return builder.compile(checkpointer=InMemorySaver(), store=store)


def said(text: str) -> dict[str, Any]:
    return {"messages": HumanMessage(text)}


def thread(name: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": name}}


def url_of(member: Member) -> str:
    return str(member.http.base_url)


def test_a_graph_finds_in_one_thread_what_it_heard_in_another(acme: Member) -> None:
    with StrataStore.from_conn_string(url_of(acme), api_key=acme.key, user_id="kim") as store:
        store.setup()
        graph = graph_of(remember, store)
        first = graph.invoke(said("I drink green tea every morning."), thread("1"))
        second = graph.invoke(said("What do I drink?"), thread("2"))
        for number in range(3):
            second = graph.invoke(said(f"And {number}?"), thread("2"))
    assert first["messages"][-1].content == "I know: nothing"
    assert second["facts"]["last_question"]["value"] == "And 2?"
    assert [one.content for one in second["messages"] if one.type == "human"] == ["And 1?", "And 2?"]
    assert (
        "human: What do I drink?\nai: I know: I drink green tea every morning."
        in second["messages"][0].content
    )


def test_an_asynchronous_graph_does_as_well(acme: Member) -> None:
    async def run() -> tuple[Any, Any]:
        async with AsyncStrataStore.from_conn_string(url_of(acme), api_key=acme.key, user_id="kim") as store:
            await store.setup()
            graph = graph_of(aremember, store)
            first = await graph.ainvoke(said("I drink green tea every morning."), thread("1"))
            return first, await graph.ainvoke(said("What do I drink?"), thread("2"))

    first, second = asyncio.run(run())
    assert first["messages"][-1].content == "I know: nothing"
    assert second["messages"][-1].content == "I know: I drink green tea every morning."


def test_the_blocking_store_serves_an_asynchronous_graph_too(acme: Member) -> None:
    async def run() -> Any:
        with StrataStore.from_conn_string(url_of(acme), api_key=acme.key, user_id="kim") as store:
            graph = graph_of(aremember, store)
            await graph.ainvoke(said("I drink green tea every morning."), thread("1"))
            return await graph.ainvoke(said("What do I drink?"), thread("2"))

    assert asyncio.run(run())["messages"][-1].content == "I know: I drink green tea every morning."


def test_many_calls_at_once_end_as_one_after_the_other(acme: Member) -> None:
    async def run() -> tuple[list[Any], list[Any], list[Any], list[tuple[str, ...]]]:
        async with AsyncStrataStore.from_conn_string(url_of(acme), api_key=acme.key) as store:
            puts = [store.aput(("many",), str(n % 40), {"n": n}, index=False) for n in range(400)]
            await asyncio.gather(*puts)
            got = await asyncio.gather(*(store.aget(("many",), str(n)) for n in range(41)))
            await asyncio.gather(*(store.adelete(("many",), str(n)) for n in range(0, 40, 2)))
            left, namespaces = await asyncio.gather(
                store.asearch(("many",), limit=100), store.alist_namespaces(prefix=("many",))
            )
            return got, left, await store.abatch([PutOp(("a",), "k", {}), GetOp(("a",), "k")]), namespaces

    got, left, batch, namespaces = asyncio.run(run())
    assert [one.value["n"] for one in got[:40]] == list(range(360, 400))
    assert got[40] is None
    assert {one.key for one in left} == {str(n) for n in range(1, 40, 2)}
    assert batch == [None, None]
    assert namespaces == [("many",)]


def test_other_threads_may_call_the_asynchronous_store_without_awaiting(acme: Member) -> None:
    def work(store: AsyncStrataStore) -> list[Any]:
        store.put(("a",), "k", {"n": 1})
        got, found = store.get(("a",), "k"), store.search(("a",))
        store.delete(("a",), "k")
        return [got.value if got else None, [one.key for one in found], store.list_namespaces()]

    async def run() -> list[Any]:
        async with AsyncStrataStore.from_conn_string(url_of(acme), api_key=acme.key) as store:
            with pytest.raises(asyncio.InvalidStateError):
                store.get(("a",), "k")
            return await asyncio.to_thread(work, store)

    assert asyncio.run(run()) == [{"n": 1}, ["k"], []]


def test_a_failure_reaches_who_awaits_and_the_store_goes_on(acme: Member) -> None:
    async def run() -> Any:
        async with AsyncStrataClient(url_of(acme), "mem_0000_unknown") as stranger:
            with pytest.raises(Unauthenticated):
                await AsyncStrataStore(stranger).aget(("a",), "k")
        async with AsyncStrataClient(url_of(acme), acme.key) as client:
            store = AsyncStrataStore(client)
            with pytest.raises(TypeError):
                await asyncio.gather(*(store.aput(("a",), str(n), {"n": object()}) for n in range(2)))
            await store.aput(("a",), "k", {"n": 1})
            return await store.aget(("a",), "k")

    assert asyncio.run(run()).value == {"n": 1}
