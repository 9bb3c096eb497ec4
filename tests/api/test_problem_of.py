"""From what went wrong to a status, a sentence and headers."""

import threading
from concurrent.futures import ThreadPoolExecutor

from django.db import OperationalError, connection, connections, transaction

from api.errors import Problem, problem_of
from tenants.idempotency import AnsweredMeanwhile
from tenants.scope import unscoped

TRY_AGAIN = Problem(503, "Try again.", headers={"Retry-After": "1"})
AWAY = Problem(503, "PostgreSQL is away.", headers={"Retry-After": "2"})


def test_a_write_whose_stored_answer_has_just_gone_is_a_conflict():
    sentence = "The same write was answered meanwhile."
    assert problem_of(AnsweredMeanwhile(sentence)) == Problem(409, sentence)


def test_whoever_loses_a_deadlock_is_told_to_try_again():
    both = threading.Barrier(2)

    def lock(*numbers: int) -> Problem | None:
        try:
            with unscoped(), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [numbers[0]])
                both.wait(10)
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [numbers[1]])
        except OperationalError as error:
            return problem_of(error)
        finally:
            connections.close_all()
        return None

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lock, (77_001, 77_002), (77_002, 77_001)))
    assert [one for one in found if one] == [TRY_AGAIN]


def test_a_transaction_that_cannot_be_put_in_order_with_others_is_to_be_tried_again():
    raised = None
    try:
        with unscoped(), connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$")
    except OperationalError as error:
        raised = problem_of(error)
    assert raised == TRY_AGAIN


def test_without_postgresql_the_caller_is_told_so():
    assert problem_of(OperationalError("gone")) == AWAY
