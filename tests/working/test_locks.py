"""Writers of every kind at one session: none waits for another in a circle."""

import random
import threading

import httpx
from django.db import connection
from django.utils import timezone

from recall.sessions import end_session
from tenants.scope import scope
from tests.working.conversation import append, turn
from working.types import SessionAddress


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


def locks_taken(caller, run):
    """The locks that the statements of `run` take, in order."""
    taken = []

    def note(execute, sql, params, many, context):
        for lock, words in {"person": "pg_advisory_xact_lock", "session": "FOR UPDATE"}.items():
            if words in str(sql):
                taken.append(lock)
        if "INSERT INTO working_session" in str(sql):
            taken.append("session")
        return execute(sql, params, many, context)

    with scope(caller.tenant_id):
        pass  # the connection is open
    with connection.execute_wrapper(note):
        run()
    return taken


def test_an_append_and_an_end_lock_the_person_before_the_session(acme):
    """An erasure that waits for the one holds up the other: in two orders they would wait in a circle."""
    address = SessionAddress("s", user_id="ana")
    append(acme.caller, turn("user", "a"), address=address)
    again = locks_taken(acme.caller, lambda: append(acme.caller, turn("user", "b"), address=address))
    assert again == ["person", "session"]
    end = lambda: end_session(caller=acme.caller, address=address, now=timezone.now())  # noqa: E731
    assert locks_taken(acme.caller, end)[:2] == ["person", "session"]
