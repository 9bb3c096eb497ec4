"""Messages in a graph's state: what stays, what goes, and what is left of it."""

from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from strata_memory.langgraph import SUMMARY_ID, digest, fallen_out, running_summary, window


def exchange(number: int) -> list[AnyMessage]:
    return [
        HumanMessage(f"question {number}", id=f"q{number}"),
        AIMessage(f"answer {number}", id=f"a{number}"),
    ]


def talk(first: int, last: int) -> list[AnyMessage]:
    return [message for number in range(first, last + 1) for message in exchange(number)]


def ids(messages: list[AnyMessage]) -> list[str]:
    return [message.id for message in messages]


def test_the_newest_exchanges_stay() -> None:
    assert ids(window(2)(talk(1, 2), exchange(3))) == ["q2", "a2", "q3", "a3"]


def test_nothing_goes_while_there_is_room() -> None:
    assert ids(window(3)(talk(1, 2), exchange(3))) == ids(talk(1, 3))


def test_a_question_that_waits_for_its_answer_is_an_exchange() -> None:
    assert ids(window(1)(talk(1, 2), HumanMessage("?", id="q3"))) == ["q3"]


def test_several_answers_belong_to_one_exchange() -> None:
    more = [AIMessage("and", id="b2"), AIMessage("more", id="c2")]
    assert ids(window(1)(talk(1, 2), more)) == ["q2", "a2", "b2", "c2"]


def test_system_messages_stay_in_their_order() -> None:
    left = [SystemMessage("be kind", id="s1"), *talk(1, 1), SystemMessage("be brief", id="s2"), *talk(2, 2)]
    assert ids(window(1)(left, exchange(3))) == ["s1", "s2", "q3", "a3"]


def calling(number: int, *calls: str) -> AIMessage:
    return AIMessage(
        "", id=f"call{number}", tool_calls=[{"name": "look", "args": {}, "id": call} for call in calls]
    )


def test_a_result_that_comes_after_the_next_question_keeps_its_call() -> None:
    left = [
        *talk(1, 1),
        HumanMessage("look", id="q2"),
        calling(2, "x"),
        HumanMessage("still there?", id="q3"),
    ]
    kept = window(1)(left, ToolMessage("found", tool_call_id="x", id="t"))
    assert ids(kept) == ["q2", "call2", "q3", "t"]


def test_results_reach_back_one_from_another() -> None:
    """The window reaches q3 for call x; there it meets the result of y, whose call is older still."""
    left = [
        *talk(1, 1),
        *[HumanMessage("a", id="q2"), calling(2, "y")],
        *[HumanMessage("b", id="q3"), ToolMessage("1", tool_call_id="y", id="ty"), calling(3, "x")],
        *[HumanMessage("c", id="q4")],
    ]
    kept = window(1)(left, ToolMessage("2", tool_call_id="x", id="tx"))
    assert ids(kept) == ["q2", "call2", "q3", "ty", "call3", "q4", "tx"]


def test_a_call_and_its_result_go_together() -> None:
    left = [HumanMessage("look", id="q1"), calling(1, "x"), ToolMessage("found", tool_call_id="x", id="t")]
    assert ids(window(1)(left, exchange(2))) == ["q2", "a2"]


def test_a_known_id_replaces_in_place() -> None:
    kept = window(2)(talk(1, 2), AIMessage("better", id="a1"))
    assert ids(kept) == ids(talk(1, 2))
    assert kept[1].content == "better"


def test_a_removed_exchange_makes_no_room_for_what_has_gone() -> None:
    left = window(2)(talk(1, 2), exchange(3))
    assert ids(window(2)(left, [RemoveMessage(id="q3"), RemoveMessage(id="a3")])) == ["q2", "a2"]


def test_removing_what_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="q9"):
        window(2)(talk(1, 1), RemoveMessage(id="q9"))


def test_everything_can_be_removed_at_once() -> None:
    assert ids(window(2)(talk(1, 2), [RemoveMessage(id="__remove_all__"), *exchange(3)])) == ["q3", "a3"]


def test_messages_get_ids_and_may_come_as_pairs() -> None:
    (message,) = window(1)([], [("user", "hello")])
    assert isinstance(message, HumanMessage)
    assert message.id


def test_the_same_arguments_give_the_same_reducer() -> None:
    """Two schemas of a graph that share a channel are told apart by the identity of its reducer."""
    assert window(20) is window(20)
    assert window(20) is not window(10)
    assert window(20, fold=digest()) is window(20, fold=digest())


def test_a_window_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        window(0)


def test_what_falls_out_is_folded_behind_the_system_message() -> None:
    reduce = window(1, fold=digest())
    state = reduce([SystemMessage("be kind", id="s")], talk(1, 1))
    state = reduce(state, exchange(2))
    assert ids(state) == ["s", SUMMARY_ID, "q2", "a2"]
    assert state[1].content == "human: question 1\nai: answer 1"
    state = reduce(state, exchange(3))
    assert ids(state) == ["s", SUMMARY_ID, "q3", "a3"]
    assert state[1].content == "human: question 1\nai: answer 1\nhuman: question 2\nai: answer 2"


def test_a_fold_of_ones_own_gets_each_message_once() -> None:
    told: list[list[str]] = []

    def fold(summary: str, messages: list[AnyMessage]) -> str:
        told.append(ids(messages))
        return f"{summary}+{len(messages)}"

    reduce, state = window(1, fold=fold), []
    for number in range(1, 5):
        state = reduce(state, exchange(number))
    assert told == [["q1", "a1"], ["q2", "a2"], ["q3", "a3"]]
    assert state[0].content == "+2+2+2"


def test_a_digest_keeps_the_newest_lines_that_fit() -> None:
    text = digest(200)("", talk(1, 40))
    assert len(text) <= 200
    assert text.endswith("human: question 40\nai: answer 40")
    assert "question 1\n" not in text


def test_a_digest_leaves_out_what_tools_answered_and_shortens_the_rest() -> None:
    fallen = [
        calling(1, "x"),
        ToolMessage("raw", tool_call_id="x"),
        AIMessage(["so ", {"type": "text", "text": "it is"}]),
    ]
    assert digest()("", fallen) == "ai: so it is"
    assert digest()("", [HumanMessage("word " * 100)]).endswith("…")
    assert len(digest()("", [HumanMessage("word " * 100)])) == 200


def test_a_summary_beside_the_messages_folds_what_the_window_lets_go() -> None:
    gone = fallen_out(talk(1, 2), exchange(3), 2)
    assert ids(gone) == ["q1", "a1"]
    summarise = running_summary()
    assert summarise("so far", gone) == "so far\nhuman: question 1\nai: answer 1"
    assert summarise("so far", []) == "so far"
    assert summarise("so far", "rewritten") == "rewritten"


@pytest.mark.parametrize(
    "said",
    [
        HumanMessage("hi"),
        [HumanMessage("hi")],
        (HumanMessage("hi"),),
        ("user", "hi"),
        [("user", "hi")],
        {"role": "user", "content": "hi"},
        [{"role": "user", "content": "hi"}],
    ],
    ids=str,
)
def test_a_summary_takes_messages_in_every_form_that_a_window_does(said: Any) -> None:
    assert running_summary()("so far", said) == "so far\nhuman: hi"


class State(TypedDict):
    messages: Annotated[list[AnyMessage], window(2, fold=digest())]
    summary: Annotated[str, running_summary()]


def test_a_graph_keeps_its_window_from_run_to_run() -> None:
    def answer(state: State) -> dict[str, object]:
        said = AIMessage(f"re: {state['messages'][-1].content}")
        return {"messages": said, "summary": fallen_out(state["messages"], said, 1)}

    builder = StateGraph(State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    for number in range(1, 5):
        state = graph.invoke({"messages": [("user", f"n{number}")]}, thread)
    assert [one.content for one in state["messages"][1:]] == ["n3", "re: n3", "n4", "re: n4"]
    assert state["messages"][0].content == "human: n1\nai: re: n1\nhuman: n2\nai: re: n2"
    assert "n3" in state["summary"]
