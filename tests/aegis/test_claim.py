"""Contract row 14, claiming: exactly one worker wins."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from tests.aegis import stores


def claim(member, item_key="skill:a", session="c", **body):
    return member.http.post(f"/ledger/{session}/claim", json={"item_key": item_key, **body})


def test_the_first_wins(acme):
    assert (claim(acme).status_code, claim(acme, "skill:b").json()) == (200, {"claimed": True})
    assert claim(acme).json() == {"claimed": False}
    assert acme.http.get("/ledger/c").json() == {"skill:a": "1", "skill:b": "1"}


def test_a_loser_leaves_the_value_alone(acme):
    claim(acme, value="first")
    claim(acme, value="second")
    assert acme.http.get("/ledger/c").json() == {"skill:a": "first"}


def test_what_is_marked_cannot_be_claimed(acme):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:a"})
    assert claim(acme).json() == {"claimed": False}


def test_exactly_one_of_sixteen_wins_every_time(acme):
    barrier = Barrier(16)

    def run(number):
        barrier.wait()
        return claim(acme, f"skill:{number // 16}").json()["claimed"]

    for round_ in range(8):
        with ThreadPoolExecutor(16) as pool:
            won = list(pool.map(run, range(round_ * 16, round_ * 16 + 16)))
        assert won.count(True) == 1
    assert len(stores.injections(acme, "c")) == 8


def test_evicted_it_can_be_claimed_again_by_one(acme):
    claim(acme)
    acme.http.post("/ledger/c/evict", json={"item_key": "skill:a"})
    with ThreadPoolExecutor(16) as pool:
        won = list(pool.map(lambda _: claim(acme).json()["claimed"], range(16)))
    assert won.count(True) == 1


def test_two_conversations_claim_apart(acme, globex):
    assert claim(acme, session="c").json() == claim(acme, session="d").json() == {"claimed": True}
    assert claim(globex, session="c").json() == {"claimed": True}
