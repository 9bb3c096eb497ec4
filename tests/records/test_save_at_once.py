"""Many writers at the same time."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from tests.records.saving import holding, record, save


def at_once(writes, threads=16):
    def run(write):
        try:
            return write()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, writes))


def test_of_two_hundred_who_save_the_same_memory_one_is_left(acme):
    writes = [lambda n=n: save(acme.caller, record("Ana lives in Oslo.", id=f"r{n}")) for n in range(200)]
    outcomes = Counter(one.outcome for (one,) in at_once(writes))
    assert outcomes == {"created": 1, "dropped": 199}
    assert holding(acme.caller) == ["Ana lives in Oslo."]


def test_of_those_who_save_it_in_sessions_of_their_own_one_is_left(acme):
    writes = [lambda n=n: save(acme.caller, "Ana lives in Oslo.", session_id=f"s{n}") for n in range(40)]
    at_once(writes)
    assert holding(acme.caller) == ["Ana lives in Oslo."]


@pytest.mark.parametrize("deduplicate", [True, False])
def test_of_those_who_save_one_id_the_last_is_left(acme, deduplicate):
    writes = [
        lambda n=n: save(acme.caller, record(f"Ana has {n} cats.", id="r"), deduplicate=deduplicate)
        for n in range(40)
    ]
    outcomes = Counter(one.outcome for (one,) in at_once(writes))
    assert outcomes == {"created": 1, "replaced": 39}
    assert len(holding(acme.caller)) == 1


def test_calls_about_several_people_in_any_order_do_not_hold_each_other_up(acme):
    people = ["alice", "bob", "carol", "dave"]
    writes = [
        lambda n=n: save(
            acme.caller,
            *(record(f"{who} has locker {n}.", user_id=who) for who in (people if n % 2 else people[::-1])),
        )
        for n in range(30)
    ]
    assert all(len(saved) == 4 for saved in at_once(writes))
    assert len(holding(acme.caller, user_id="carol")) == 30
