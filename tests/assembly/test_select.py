"""What goes in when not everything fits."""

from hypothesis import given
from hypothesis import strategies as st

from recall.assembly.budget import Offer, newest_exchange, select
from recall.assembly.render import render_memory
from recall.assembly.types import Piece, message_tokens, window_tokens
from working.types import Turn


def piece(kind, id, length=40):
    return Piece(kind, id, "x" * length, "current")


def talk(exchanges, length=40):
    return [Turn(n, "assistant" if n % 2 else "user", "x" * length) for n in range(2 * exchanges)]


PIECES = [piece("procedure", "p"), piece("session", "f"), piece("entity", "e"), piece("episode", "1")]
SUMMARY = [piece("summary", "summary")]


def ids(pieces):
    return "".join(one.id[0] for one in pieces)


def total(offer, chosen):
    system = message_tokens("system", offer.system) if offer.system else 0
    asked = message_tokens("user", offer.query) + system
    memory = message_tokens("system", render_memory(chosen.pieces)) if chosen.pieces else 0
    return asked + memory + window_tokens(chosen.turns)


def test_without_a_budget_everything_goes_in():
    chosen = select(Offer("q", "s", PIECES, talk(3), SUMMARY, summary_due=True), None)
    assert (ids(chosen.pieces), len(chosen.turns), chosen.too_much) == ("pfe1s", 6, ())


def test_a_summary_that_is_not_due_stays_out_until_turns_do_not_fit():
    offer = Offer("q", None, [], talk(6), SUMMARY)
    assert select(offer, None).pieces == ()
    assert select(offer, 10_000).pieces == ()
    chosen = select(offer, window_tokens(talk(6)))
    assert (ids(chosen.pieces), len(chosen.turns) < 12) == ("s", True)


def test_system_query_and_the_newest_exchange_stay_however_small_the_budget():
    chosen = select(Offer("q" * 400, "s" * 400, PIECES, talk(3, 400), SUMMARY, summary_due=True), 1)
    assert (chosen.pieces, ids(chosen.too_much)) == ((), "pfe1s")
    assert [turn.seq for turn in chosen.turns] == [4, 5]


def test_pieces_go_before_older_turns_in_their_order():
    turns = talk(4)
    many, few = (Offer("q", None, PIECES, some, SUMMARY, summary_due=True) for some in (turns, turns[-2:]))
    first = {}
    for budget in range(1, 400):
        chosen = select(many, budget)
        assert chosen.pieces == select(few, budget).pieces, "no older turn is in the way of one"
        first |= {name: budget for name in ids(chosen.pieces) if name not in first}
    assert list(first) == list("pfe1s")
    assert (ids(chosen.pieces), len(chosen.turns)) == ("pfe1s", 8)


def test_what_is_too_long_makes_room_for_what_comes_after_it():
    pieces = [piece("episode", "1", 4_000), piece("episode", "2", 40)]
    chosen = select(Offer("q", None, pieces), 200)
    assert (ids(chosen.pieces), ids(chosen.too_much)) == ("2", "1")


def test_a_call_of_a_tool_stays_with_its_result():
    call = Turn(2, "assistant", None, tool_calls=[{"id": "a"}])
    turns = [Turn(0, "user", "x" * 40), Turn(1, "assistant", "x"), Turn(2, "user", "x"), call,
             Turn(4, "tool", "x" * 400, tool_call_id="a")]  # fmt: skip
    chosen = select(Offer("q", None, [], turns), 1)
    assert [turn.role for turn in chosen.turns] == ["user", "assistant", "tool"]


def test_the_newest_exchange_begins_with_the_user():
    assert newest_exchange(talk(3)) == talk(3)[4:]
    assert newest_exchange([Turn(1, "system", "x")]) == [Turn(1, "system", "x")]
    assert newest_exchange([]) == []


sizes = st.integers(0, 300)
kinds = st.sampled_from(["procedure", "session", "entity", "episode"])


@given(
    st.lists(st.tuples(kinds, sizes), max_size=8),
    st.integers(0, 5),
    st.integers(1, 600),
    sizes,
    st.booleans(),
)
def test_a_budget_that_holds_what_must_stay_is_kept(lengths, exchanges, spare, size, due):
    pieces = [piece(kind, str(n), length) for n, (kind, length) in enumerate(lengths)]
    turns = talk(exchanges, size)
    offer = Offer("q" * size, "s" * size, pieces, turns, SUMMARY, summary_due=due)
    least = total(offer, select(offer, 1))
    chosen = select(offer, least + spare)
    assert total(offer, chosen) <= least + spare
