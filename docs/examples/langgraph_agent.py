"""A LangGraph agent whose store is Strata: what one thread learns, all threads of the user know.

StrataStore is a BaseStore, so the graph is the one that would run on LangGraph's own stores; items are found
by meaning, since the server embeds them.

    pip install './sdk[langgraph]'
    python docs/examples/langgraph_agent.py
"""

import secrets
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore
from strata_memory import StrataClient
from strata_memory.addresses import find_address
from strata_memory.langgraph import StrataStore


def model(known: list[str], messages: list[AnyMessage]) -> AIMessage:
    """Stands where a model would be. A real one: `return init_chat_model("…").invoke([*system, *messages])`,
    with what is known in the system message."""
    asked = str(messages[-1].content).endswith("?")
    return AIMessage(f"You told me: {known[0]}" if asked and known else "I see.")


def talk(state: MessagesState, config: RunnableConfig, *, store: BaseStore) -> dict[str, Any]:
    """The graph's one node: look up, answer, keep."""
    memories = ("memories", config["configurable"]["user_id"])
    said = str(state["messages"][-1].content)
    known = [one.value["text"] for one in store.search(memories, query=said, limit=3)]
    if not said.endswith("?"):  # a real agent would let its model decide what is worth keeping
        store.put(memories, secrets.token_hex(4), {"text": said})
    return {"messages": [model(known, state["messages"])]}


def main() -> None:
    server = find_address(None, None)  # STRATA_URL and STRATA_API_KEY, else what `make run` has started
    user = f"ada-{secrets.token_hex(3)}"
    with StrataClient(server.url, server.api_key, user_id=user) as client:
        graph = StateGraph(MessagesState)
        graph.add_node("talk", talk)
        graph.add_edge(START, "talk")
        agent = graph.compile(store=StrataStore(client))
        said = (
            ("first", "My dog is called Bella."),
            ("first", "The office moves to Bergen in June."),
            ("second", "What is the name of my pet?"),
        )
        for thread, text in said:
            config: RunnableConfig = {"configurable": {"thread_id": thread, "user_id": user}}
            state = agent.invoke({"messages": [HumanMessage(text)]}, config)
            print(f"{user}, thread {thread}\n  user:  {text}\n  agent: {state['messages'][-1].content}")


if __name__ == "__main__":
    main()
