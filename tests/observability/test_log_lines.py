"""What a line says, and what it leaves out."""

import json
import logging
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, IntegrityError, connection, connections, transaction
from django.test import RequestFactory

from memoryproject.logs import JsonLines, Relevant, TextLines, configuration
from providers.errors import EmbeddingUnavailable
from tenants import log_context
from tenants.scope import unscoped

SECRET = "marmalade"


def record(
    name: str = "memoryproject.x",
    level: int = logging.INFO,
    message: object = "hello",
    *args: object,
    **extra,
):
    exc_info = extra.pop("exc_info", None)
    made = logging.LogRecord(name, level, "f.py", 1, message, args, exc_info)  # type: ignore[arg-type]
    made.__dict__.update(extra)
    return made


def line(*args: object, **extra: object) -> dict:
    return json.loads(JsonLines().format(record(*args, **extra)))


def failure(act: Callable[[], object]) -> tuple:
    with pytest.raises(Exception) as caught:
        act()
    return (caught.type, caught.value, caught.tb)


def wrapped() -> None:
    try:
        int(SECRET)
    except ValueError as error:
        raise EmbeddingUnavailable(f"The model failed: {error}") from error


def test_a_line_is_one_json_object_with_time_place_and_process():
    made = record()
    made.created = 1_800_000_000.1239
    text = JsonLines().format(made)
    assert "\n" not in text
    assert json.loads(text) == {
        "time": "2027-01-15T08:00:00.123Z",
        "level": "INFO",
        "logger": "memoryproject.x",
        "message": "hello",
        "process": "command",
    }


def test_the_ids_of_the_work_in_hand_are_on_it_and_go_with_it():
    with log_context.bound(request_id="r1"):
        log_context.bind(tenant="acme")
        with log_context.bound(job_id="j1"):
            inner = line()
        outer = line()
    assert (inner["request_id"], inner["tenant"], inner["job_id"]) == ("r1", "acme", "j1")
    assert "job_id" not in outer
    assert outer["tenant"] == "acme"
    assert {"request_id", "tenant"}.isdisjoint(line())


def test_what_is_bound_outside_of_any_work_is_not_kept_for_the_next():
    log_context.bind(tenant="acme")
    assert "tenant" not in line()


def test_text_is_one_line_for_a_person():
    made = record("memoryproject.middleware", logging.INFO, "request", fields={"status": 200, "ms": 3.1})
    with log_context.bound(request_id="r1"):
        text = TextLines().format(made)
    assert text.endswith("INFO command memoryproject.middleware request status=200 ms=3.1 request_id=r1")
    forged = TextLines().format(record("memoryproject.x", logging.INFO, "a\nb\x1b[31m"))
    assert "\n" not in forged
    assert "\x1b" not in forged


def test_an_exception_is_told_by_type_and_place_not_by_what_it_quotes():
    exc_info = failure(lambda: {}[SECRET])
    told = line("memoryproject.x", logging.ERROR, "broken", exc_info=exc_info)["exception"]
    assert told.startswith("Traceback (most recent call last):")
    assert "test_log_lines.py" in told
    assert told.endswith("KeyError")
    assert SECRET not in told


@pytest.mark.parametrize(
    "act",
    [
        lambda: int(SECRET),
        lambda: json.loads(SECRET),
        lambda: (_ for _ in ()).throw(RuntimeError(SECRET)),
        lambda: wrapped(**{SECRET: 1}),
        wrapped,
    ],
)
def test_no_message_that_may_quote_a_value_is_told(act):
    exc_info = failure(act)
    assert SECRET not in json.dumps(line("x", logging.ERROR, "broken", exc_info=exc_info))
    assert SECRET not in json.dumps(line("x", logging.ERROR, "broken: %s", exc_info[1]))
    assert SECRET not in json.dumps(line("x", logging.ERROR, exc_info[1]))
    assert SECRET not in json.dumps(line("x", logging.ERROR, "%(e)s", {"e": exc_info[1]}))


def test_messages_that_name_only_files_and_conditions_are_told():
    exc_info = failure(lambda: Path("/no/such/file").read_text())
    assert "No such file or directory" in line("x", logging.ERROR, "broken", exc_info=exc_info)["exception"]
    away = EmbeddingUnavailable("The model's files are missing.")
    told = line("episodic.embedding", logging.WARNING, "embedding_unavailable: %s", away)["message"]
    assert told.endswith("EmbeddingUnavailable: The model's files are missing.")


def test_causes_are_told_in_their_order():
    told = line("x", logging.ERROR, "broken", exc_info=failure(wrapped))["exception"]
    assert told.index("ValueError") < told.index("… which caused:") < told.rindex("EmbeddingUnavailable")


FORCED = {
    "a bad value": (f"SELECT '{SECRET}'::uuid", "22P02"),
    "a syntax error": (f"SELECT 1 FRUM '{SECRET}'", "42601"),
    "a failed check": (
        f"CREATE TEMP TABLE t (v text CHECK (v <> '{SECRET}')); INSERT INTO t VALUES ('{SECRET}')",
        "23514",
    ),
    "a duplicate": (
        f"CREATE TEMP TABLE t (v text UNIQUE); INSERT INTO t VALUES ('{SECRET}'), ('{SECRET}')",
        "23505",
    ),
    "a raised one": (f"DO $$ BEGIN RAISE EXCEPTION '{SECRET}'; END $$", "P0001"),
    "a missing table": (f"SELECT '{SECRET}' FROM nothing_here", "42P01"),
}


@pytest.mark.parametrize("name", FORCED)
def test_what_postgresql_quotes_is_not_told_but_its_code_is(name):
    sql, state = FORCED[name]

    def act() -> None:
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute(sql)

    exc_info = failure(act)
    assert isinstance(exc_info[1], DatabaseError)
    told = line("x", logging.ERROR, "broken", exc_info=exc_info)["exception"]
    assert SECRET in str(exc_info[1])  # else this proves nothing
    assert SECRET not in told
    assert state in told
    if state.startswith("23"):
        assert isinstance(exc_info[1], IntegrityError)
        assert "constraint" in told


def test_why_postgresql_cannot_be_reached_is_told():
    exc_info = failure(lambda: psycopg.connect("host=/nowhere dbname=x", connect_timeout=1))
    assert "/nowhere" in line("x", logging.ERROR, "broken", exc_info=exc_info)["exception"]


def test_a_line_whose_arguments_do_not_fit_shows_none_of_them():
    told = line("x", logging.INFO, "%d things", SECRET)
    assert told["message"] == "%d things"


def test_djangos_lines_name_the_route_not_the_path():
    request = RequestFactory().get(f"/api/v1/sessions/{SECRET}/turns", {"user_id": SECRET})
    exc_info = failure(lambda: int(SECRET))
    told = line(
        "django.request", logging.ERROR, "%s: %s", "Internal Server Error", request.path,
        exc_info=exc_info, request=request, status_code=500,
    )  # fmt: skip
    assert (told["message"], told["route"]) == ("Internal Server Error", "unknown")
    host = line(
        "django.security.DisallowedHost",
        logging.ERROR,
        f"Invalid host {SECRET}",
        request=request,
        status_code=400,
    )
    assert SECRET not in json.dumps([told, host])
    assert host["message"] == "Bad Request"


def test_celery_tells_neither_arguments_nor_bodies():
    body = "Received unregistered task of type %s.\n…\nThe full contents of the message body was:\n%s"
    told = line("celery.worker.consumer.consumer", logging.ERROR, body, SECRET, SECRET)
    assert told["message"] == "Received unregistered task of type"
    data = {
        "name": "a.b",
        "id": "1",
        "exc": SECRET,
        "args": SECRET,
        "internal": True,
        "description": "INTERNAL ERROR",
    }
    internal = record("celery.app.trace", logging.CRITICAL, "Task %(name)s %(exc)s", data, data=data)
    assert Relevant().filter(internal)
    assert SECRET not in JsonLines().format(internal)
    assert not Relevant().filter(
        record("celery.app.trace", logging.INFO, "…", data | {"internal": False}, data={"x": 1})
    )


def test_a_warning_is_told_by_its_place():
    text = f"/a/b.py:7: RuntimeWarning: got {SECRET}\n  f({SECRET})\n"
    assert line("py.warnings", logging.WARNING, "%s", text)["message"] == "/a/b.py:7: RuntimeWarning"


def test_below_info_only_our_own_modules_are_heard():
    assert Relevant().filter(record("working.store", logging.DEBUG, "x"))
    for library in ("openai._base_client", "django.db.backends", "celery.worker", "urllib3", "psycopg"):
        assert not Relevant().filter(record(library, logging.DEBUG, "x"))
        assert Relevant().filter(record(library, logging.INFO, "x"))
    assert not Relevant().filter(record("httpx", logging.INFO, "HTTP Request: GET http://…"))


def test_django_says_only_what_the_requests_own_line_does_not():
    assert not Relevant().filter(record("django.request", logging.ERROR, "Service Unavailable: /x"))
    assert Relevant().filter(record("django.request", logging.ERROR, "x", exc_info=failure(lambda: {}["x"])))


def test_a_wrong_level_or_format_stops_the_start():
    with pytest.raises(ImproperlyConfigured, match="LOG_FORMAT must be one of json, text"):
        configuration(level="INFO", style="xml")
    with pytest.raises(ImproperlyConfigured, match="LOG_LEVEL"):
        configuration(level="LOUD", style="json")


def test_the_sql_of_a_refused_query_is_real():
    """The refusals above come from the driver as the product uses it: values within the statement."""
    with unscoped(), pytest.raises(DatabaseError) as caught, connection.cursor() as cursor:
        cursor.execute("SELECT %s::uuid", [SECRET])
    assert SECRET in str(caught.value)
