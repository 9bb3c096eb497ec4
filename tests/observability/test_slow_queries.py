"""The slow-query log: which statement, how long, for which request; never with what."""

import logging
import os
import subprocess
import sys

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from memoryproject import slow_queries
from memoryproject.sql_text import LONGEST, shape
from tenants import log_context
from tenants.scope import unscoped
from tests.architecture.sources import ROOT


@pytest.fixture
def slow(settings):
    settings.SLOW_QUERY_MS = 50


def reported(caplog: pytest.LogCaptureFixture) -> list[dict]:
    return [one.fields for one in caplog.records if one.message == "slow_query"]  # type: ignore[attr-defined]


def python(script: str, env: dict[str, str]) -> str:
    argv = [sys.executable, "-c", script]
    return subprocess.run(argv, env=env, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def run(sql: str, params: list | None = None) -> None:
    with unscoped(), connection.execute_wrapper(slow_queries._timed), connection.cursor() as cursor:
        cursor.execute(sql, params)


def test_a_slow_statement_is_told_without_its_values(slow, caplog):
    with caplog.at_level(logging.WARNING), log_context.bound(request_id="r1"):
        run("SELECT pg_sleep(0.06), %s, 'marmalade' AS jam, 4711", ["marmalade"])
    (told,) = reported(caplog)
    assert told["sql"] == "SELECT pg_sleep(?), %s, ? AS jam, ?"
    assert told["ms"] >= 60
    assert (told["rows"], told["database"]) == (1, "default")


def test_a_quick_one_is_not(settings, caplog):
    settings.SLOW_QUERY_MS = 60_000
    with caplog.at_level(logging.WARNING):
        run("SELECT 1")
    assert reported(caplog) == []


def test_one_that_fails_late_is(slow, caplog):
    with caplog.at_level(logging.WARNING), pytest.raises(Exception, match="marmalade"):
        run("SELECT pg_sleep(0.06), %s::uuid", ["marmalade"])
    assert "marmalade" not in str(reported(caplog))


def test_0_watches_nothing_and_a_number_every_connection():
    script = """
import django; django.setup()
from django.db import connections
from memoryproject import slow_queries
from tenants.scope import unscoped
slow_queries.watch()
with unscoped():
    for alias in ("default", "owner", "admin"):
        connections[alias].ensure_connection()
        print(slow_queries._timed in connections[alias].execute_wrappers)
"""
    for limit, expected in (("0", "False"), ("1", "True")):
        env = {**os.environ, "SLOW_QUERY_MS": limit, "DJANGO_SETTINGS_MODULE": "memoryproject.settings"}
        done = python(script, env)
        assert done.split() == [expected] * 3


@pytest.mark.parametrize("debug", ["0", "1"])
def test_the_default_is_200_in_development_only(debug):
    env = {**os.environ, "DEBUG": debug, "DJANGO_SETTINGS_MODULE": "memoryproject.settings"}
    script = "from django.conf import settings; print(settings.SLOW_QUERY_MS)"
    done = python(script, env)
    assert done.strip() == ("200" if debug == "1" else "0")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 'a''b', E'c\\'d', $x$e$x$", "SELECT ?, ?, ?"),
        ('SELECT "T1"."id" FROM t2 WHERE a = $1 LIMIT 21', 'SELECT "T1"."id" FROM t2 WHERE a = $1 LIMIT ?'),
        ("SELECT 1 -- marmalade\n, 2 /* marmalade */", "SELECT ? , ?"),
        ("x IN (%s, %s, %s)", "x IN (%s, …)"),
        ("x IN (1, 2, 3)", "x IN (?, …)"),
        ("VALUES (%(a)s)\n  ,  (%(b)s)", "VALUES (%(a)s) , (%(b)s)"),
        ("SET LOCAL app.tenant_id = '0190-…'", "SET LOCAL app.tenant_id = ?"),
        ("SELECT 'never closed", "SELECT ?"),
        ("SELECT '-- not a comment', \"it's\" -- it's one\n, 'x'", 'SELECT ?, "it\'s" , ?'),
        ("SELECT X'ff', U&'d', $$it's$$, 'E''x'", "SELECT ?, ?, ?, ?"),
        ("INSERT INTO t (a, b) VALUES (%s, %s::vector)", "INSERT INTO t (a, b) VALUES (%s, …)"),
    ],
)
def test_the_shape_of_a_statement(sql, expected):
    assert shape(sql) == expected


@given(st.text().filter(lambda text: "\0" not in text and "$" not in text))
def test_no_literal_survives(text):
    plain = "'" + text.replace("'", "''") + "'"
    escaped = "E'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    for literal in (plain, escaped, f"$tag${text}$tag$"):
        assert shape(f"SELECT {literal} AS a, {literal} AS b") == "SELECT ? AS a, ? AS b"


def test_it_is_never_long():
    assert len(shape("SELECT " + ", ".join(f"column_{n}" for n in range(1000)))) == LONGEST + 1
