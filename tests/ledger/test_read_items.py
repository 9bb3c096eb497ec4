"""Redis answers the checks; PostgreSQL has the log. They agree, whatever is lost and whoever races."""

import random
import time

from django_redis import get_redis_connection

from ledger import keys
from tests.ledger.told import cached, check, claim, clear, evict, logged, mark, read, reference, trusted
from tests.working.conversation import at_once


def test_the_ledger_is_rebuilt_after_the_loss_of_redis(caller):
    for item in ("a", "b", "c"):
        mark(caller, item, f"value of {item}")
    evict(caller, "b")
    get_redis_connection().flushdb()
    assert check(caller, "a") == "value of a"
    assert cached(caller) == logged(caller) == {"a": "value of a", "c": "value of c"}
    assert trusted(caller)


def test_writes_after_the_loss_of_redis_find_what_was_there_before(caller):
    mark(caller, "a")
    get_redis_connection().flushdb()
    assert claim(caller, "a") is False
    mark(caller, "b")
    assert read(caller) == cached(caller) == logged(caller) == {"a": "1", "b": "1"}


def test_the_loss_of_the_hash_alone_is_noticed_by_the_run_of_the_server(caller):
    mark(caller, "a")
    mark(caller, "b")
    ref, redis = reference(caller), get_redis_connection()
    redis.hdel(keys.items(ref), "b")
    redis.hset(keys.state(ref), "loaded", "0" * 40)  # as after a restart with an older file
    assert check(caller, "b") == "1"
    assert trusted(caller)


def test_a_write_after_a_state_that_lost_its_items_is_protected_by_its_mark(caller):
    """The state may outlive its `loaded`: the mark of a write must be there all the same."""
    mark(caller, "a")
    ref, redis = reference(caller), get_redis_connection()
    redis.delete(keys.items(ref))
    redis.hdel(keys.state(ref), "loaded")
    mark(caller, "b")
    assert trusted(caller)
    assert read(caller) == cached(caller) == logged(caller) == {"a": "1", "b": "1"}


def test_both_stores_agree_after_racing_writers_readers_and_losses(caller):
    mark(caller, "seed")
    redis, ref = get_redis_connection(), reference(caller)
    stop, items = time.monotonic() + 2, [f"{n}" for n in range(6)]

    def write(seed):
        chance = random.Random(seed)
        while time.monotonic() < stop:
            chance.choice([mark, mark, claim, evict, evict])(caller, chance.choice(items))
            if chance.random() < 0.1:
                clear(caller)

    def look(seed):
        chance = random.Random(seed)
        while time.monotonic() < stop:
            check(caller, chance.choice(items))

    def lose():
        while time.monotonic() < stop:
            redis.delete(keys.state(ref), keys.items(ref))
            time.sleep(0.03)

    writers = [lambda n=n: write(n) for n in range(4)]
    at_once(*writers, lambda: look(8), lambda: look(9), lose)
    assert read(caller) == logged(caller)
    assert trusted(caller)
    assert cached(caller) == logged(caller)


def test_an_item_marked_before_a_check_began_is_found_by_it(caller):
    """Four writers each look at once for what they were just told is marked, and evicted."""

    def write(writer):
        for n in range(25):
            item = f"{writer} {n}"
            mark(caller, item)
            assert check(caller, item) == "1"
            if n % 2:
                evict(caller, item)
                assert check(caller, item) is None

    at_once(*(lambda writer=writer: write(writer) for writer in range(4)))
    assert len(read(caller)) == 4 * 13
