"""Writers of every kind at one session: none waits for another in a circle."""

import random
import threading

import httpx


def test_appends_ends_deletions_and_marks_do_not_deadlock(acme):
    url = "/api/v1/sessions/s"
    turn = {"turns": [{"role": "user", "content": "x"}]}
    calls = [
        lambda: acme.http.post(f"{url}/turns", json=turn),
        lambda: acme.http.post(f"{url}/end"),
        lambda: acme.http.delete(url),
        lambda: acme.http.post("/ledger/s/mark", json={"item_key": f"k{random.randrange(4)}"}),
        lambda: acme.http.put("/working-memory/s", json={"data": {"a": 1}}),
    ]
    answers: list[httpx.Response] = []

    def work(seed: int) -> None:
        order = random.Random(seed)
        answers.extend(order.choice(calls)() for _ in range(25))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert {one.status_code for one in answers} <= {200, 201, 204, 404}
