"""The window is pure: these tests need no store."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from working.types import Turn
from working.window import CHARACTERS_PER_TOKEN, MESSAGE_OVERHEAD, Window, estimate_tokens, select_window

IDS = ("a", "b", "c", "d")


def call(*ids: str, content: str | None = None) -> Turn:
    return Turn(0, "assistant", content, tool_calls=[{"id": one, "type": "function"} for one in ids])


def result(of: str | None, content: str = "42") -> Turn:
    return Turn(0, "tool", content, tool_call_id=of)


def said(role: str, content: str = "word") -> Turn:
    return Turn(0, role, content)


def numbered(*turns: Turn) -> list[Turn]:
    return [
        Turn(n, one.role, one.content, one.tool_calls, one.tool_call_id, one.name)
        for n, one in enumerate(turns, 1)
    ]


def seqs(window: Window) -> list[int]:
    return [turn.seq for turn in window.turns]


def conversations() -> st.SearchStrategy[list[Turn]]:
    """Anything a client may have sent: results without calls, calls without results, ids used twice."""
    text = st.text(max_size=40)
    turns = st.one_of(
        st.builds(said, st.sampled_from(["user", "user", "assistant", "system"]), text),
        st.builds(
            lambda ids: call(*ids), st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True)
        ),
        st.builds(result, st.sampled_from([*IDS, None]), text),
    )
    return st.lists(turns, max_size=30).map(lambda drawn: numbered(*drawn))


def answered(turns: Sequence[Turn], position: int) -> set[str]:
    """The ids of the results that follow the call at `position` without a break."""
    ids = set()
    for turn in turns[position + 1 :]:
        if turn.role != "tool":
            break
        ids.add(turn.tool_call_id)
    return ids


@settings(max_examples=400, deadline=None)
@given(
    conversations(),
    st.integers(1, 8),
    st.none() | st.integers(1, 200),
    st.none() | st.integers(1, 20),
)
def test_a_window_can_be_sent_to_a_chat_api_as_it_is(turns, pairs, budget, chars):
    window = select_window(turns, pairs=pairs, token_budget=budget, max_tool_result_chars=chars)
    chosen = window.turns
    for position, turn in enumerate(chosen):
        if turn.role == "tool":
            before = next(one for one in reversed(chosen[:position]) if one.role != "tool")
            ids = {one["id"] for one in before.tool_calls}
            assert turn.tool_call_id is None or turn.tool_call_id in ids
        elif turn.tool_calls:
            results = answered(chosen, position)
            open_ids = {one["id"] for one in turn.tool_calls} - results
            last = (
                position + len([1 for one in chosen[position + 1 :] if one.role == "tool"]) == len(chosen) - 1
            )
            # A call may wait for results only where nothing comes after it; None answers by position.
            assert not open_ids or last or None in results


@settings(max_examples=300, deadline=None)
@given(conversations(), st.integers(1, 8), st.none() | st.integers(1, 200), st.none() | st.integers(1, 20))
def test_order_is_kept_and_nothing_is_invented(turns, pairs, budget, chars):
    window = select_window(turns, pairs=pairs, token_budget=budget, max_tool_result_chars=chars)
    assert seqs(window) == sorted(set(seqs(window)))
    given_turns = {turn.seq: turn for turn in turns}
    for turn in window.turns:
        assert (turn.role, turn.tool_calls) == (given_turns[turn.seq].role, given_turns[turn.seq].tool_calls)
    assert window.tokens == sum(estimate_tokens(turn) for turn in window.turns)
    assert sum(turn.role == "user" for turn in window.turns) <= pairs


@settings(max_examples=300, deadline=None)
@given(conversations(), st.integers(1, 8), st.integers(1, 200))
def test_the_budget_is_exceeded_by_the_newest_block_alone(turns, pairs, budget):
    window = select_window(turns, pairs=pairs, token_budget=budget)
    if window.tokens > budget:
        newest = next((p for p, turn in reversed(list(enumerate(window.turns))) if turn.role != "tool"), 0)
        assert newest == 0, "an older block stands before the one that is too large"


@settings(max_examples=300, deadline=None)
@given(conversations(), st.integers(1, 8), st.none() | st.integers(1, 200), st.none() | st.integers(1, 20))
def test_truncated_tells_exactly_when_something_is_missing(turns, pairs, budget, chars):
    window = select_window(turns, pairs=pairs, token_budget=budget, max_tool_result_chars=chars)
    assert window.truncated == (list(window.turns) != turns)


@pytest.mark.parametrize("pairs", [1, 2, 3])
def test_the_last_pairs_are_kept_whole(pairs):
    turns = numbered(*[said(role) for _ in range(5) for role in ("user", "assistant")])
    assert seqs(select_window(turns, pairs=pairs)) == list(range(11 - 2 * pairs, 11))


def test_what_stands_before_the_first_user_turn_is_kept_while_all_pairs_fit():
    turns = numbered(said("system"), said("assistant"), said("user"), said("assistant"))
    assert seqs(select_window(turns, pairs=1)) == [1, 2, 3, 4]
    assert seqs(select_window([*turns, Turn(5, "user", "more")], pairs=1)) == [5]


def test_a_conversation_without_user_turns_is_one_exchange():
    turns = numbered(said("assistant"), call("a"), result("a"), said("assistant"))
    assert seqs(select_window(turns, pairs=1)) == [1, 2, 3, 4]


def test_a_result_at_the_very_beginning_is_left_out():
    window = select_window(numbered(result("a"), said("user")), pairs=6)
    assert (seqs(window), window.truncated) == ([2], True)


def test_no_turns_make_an_empty_window():
    assert select_window([], pairs=6) == Window(turns=(), truncated=False, tokens=0)


def test_parallel_calls_stay_with_all_their_results_in_any_order():
    turns = numbered(
        said("user"), call("a", "b", "c"), result("c"), result("a"), result("b"), said("assistant")
    )
    assert seqs(select_window(turns, pairs=6)) == [1, 2, 3, 4, 5, 6]


def test_a_call_that_lacks_one_of_its_results_goes_with_those_it_has():
    turns = numbered(said("user"), call("a", "b"), result("a"), said("assistant"))
    assert seqs(select_window(turns, pairs=6)) == [1, 4]


@pytest.mark.parametrize("results", [[], ["a"]])
def test_a_call_that_still_waits_is_kept_at_the_end(results):
    turns = numbered(said("user"), call("a", "b"), *map(result, results))
    assert len(select_window(turns, pairs=6).turns) == len(turns)


def test_results_that_answer_an_interleaved_call_do_not_stand_alone():
    turns = numbered(said("user"), call("a"), call("b"), result("b"), result("a"), said("assistant"))
    assert seqs(select_window(turns, pairs=6)) == [1, 3, 4, 6]


def test_a_result_behind_a_user_turn_is_left_out_with_its_call():
    turns = numbered(said("user"), call("a"), said("user"), result("a"), said("assistant"))
    assert seqs(select_window(turns, pairs=6)) == [1, 3, 5]


def test_an_id_used_again_belongs_to_the_call_before_it():
    turns = numbered(said("user"), call("a"), result("a"), call("a"), result("a"))
    assert seqs(select_window(turns, pairs=6)) == [1, 2, 3, 4, 5]


def test_results_without_ids_belong_to_the_call_before_them():
    turns = numbered(said("user"), call("a", "b"), result(None), result(None), said("assistant"))
    assert seqs(select_window(turns, pairs=6)) == [1, 2, 3, 4, 5]


def test_a_budget_takes_whole_exchanges_while_one_fits():
    turns = numbered(*[said(role, "x" * 40) for _ in range(4) for role in ("user", "assistant")])
    one = 2 * (MESSAGE_OVERHEAD + 40 // CHARACTERS_PER_TOKEN)
    window = select_window(turns, pairs=6, token_budget=2 * one + one // 2)
    assert (seqs(window), window.tokens, window.truncated) == ([5, 6, 7, 8], 2 * one, True)


def test_a_budget_below_the_newest_block_keeps_that_block():
    turns = numbered(said("user"), call("a", "b"), result("a", "x" * 4000), result("b", "x" * 4000))
    window = select_window(turns, pairs=6, token_budget=1)
    assert (seqs(window), window.truncated) == ([2, 3, 4], True)


def test_a_long_tool_trace_is_cut_between_calls():
    trace = [one for n in range(20) for one in (call(f"{n}"), result(f"{n}", "x" * 100))]
    turns = numbered(said("user"), *trace)
    window = select_window(turns, pairs=6, token_budget=200)
    assert window.turns[0].tool_calls
    assert window.turns[-1].seq == len(turns)
    assert window.tokens <= 200


def test_only_tool_results_are_shortened_and_say_by_how_much():
    turns = numbered(said("user", "u" * 50), call("a", content="c" * 50), result("a", "r" * 50))
    window = select_window(turns, pairs=6, max_tool_result_chars=10)
    assert [turn.content for turn in window.turns] == [
        "u" * 50, "c" * 50, "r" * 10 + "… [40 characters cut]"]  # fmt: skip
    assert window.truncated


def test_a_result_of_just_the_permitted_length_is_left_alone():
    window = select_window(numbered(call("a"), result("a", "r" * 10)), pairs=6, max_tool_result_chars=10)
    assert (window.turns[1].content, window.truncated) == ("r" * 10, False)


def test_a_result_is_shortened_before_the_budget_is_applied():
    turns = numbered(said("user", "q"), call("a"), result("a", "r" * 100_000))
    assert seqs(select_window(turns, pairs=6, token_budget=100, max_tool_result_chars=40)) == [1, 2, 3]


@pytest.mark.parametrize("identity", [None, 7, [], {}])
def test_calls_whose_id_is_no_text_are_matched_by_position(identity):
    odd = Turn(0, "assistant", None, tool_calls=[{"id": identity}])
    assert seqs(select_window(numbered(odd, result("a"), said("user")), pairs=6)) == [1, 2, 3]


def test_what_cannot_stand_without_its_pair_is_named():
    turns = numbered(result("x"), said("user"), call("a"), said("user"), call("b"), result("b"), call("c"))
    window = select_window(turns, pairs=6)
    assert seqs(window) == [2, 4, 5, 6, 7]
    assert [turn.seq for turn in window.unpaired] == [1, 3]
    assert select_window(turns, pairs=1).unpaired == ()
