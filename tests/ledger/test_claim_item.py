from tests.ledger.told import cached, check, claim, evict, logged, mark, read
from tests.working.conversation import at_once


def test_the_first_claim_wins_and_the_second_learns_that_it_lost(caller):
    assert (claim(caller, "a", "first"), claim(caller, "a", "second")) == (True, False)
    assert check(caller, "a") == "first"


def test_a_marked_item_cannot_be_claimed_and_an_evicted_one_can(caller):
    mark(caller, "a")
    assert claim(caller, "a") is False
    evict(caller, "a")
    assert claim(caller, "a") is True


def test_of_sixteen_claims_at_once_exactly_one_wins(caller):
    for item in ("a", "b", "c"):
        won = at_once(*(lambda n=n, item=item: claim(caller, item, f"{n}") for n in range(16)))
        assert sum(won) == 1
        assert check(caller, item) == f"{won.index(True)}"
    assert read(caller) == cached(caller) == logged(caller)


def test_the_first_claims_of_a_new_session_make_one_winner_per_item(caller):
    won = at_once(*(lambda n=n: claim(caller, f"{n % 4}") for n in range(16)))
    assert sum(won) == 4
    assert read(caller) == logged(caller) == dict.fromkeys("0123", "1")
