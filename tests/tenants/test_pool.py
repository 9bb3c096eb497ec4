"""Connections that a process keeps to PostgreSQL."""

import psycopg
from django.db import connection

from tenants.scope import scope
from tests.plugin import STORES


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def test_a_connection_that_the_server_has_ended_is_replaced(acme):
    with scope(acme.tenant.id):
        first = backend()
    connection.close()  # it goes back to the pool, as after a request
    with psycopg.connect(STORES.postgres.superuser_url("strata"), autocommit=True) as superuser:
        superuser.execute("SELECT pg_terminate_backend(%s, 60000)", [first])
    with scope(acme.tenant.id):
        assert backend() != first


def test_a_connection_that_stands_is_given_out_without_asking_the_server(acme, monkeypatch):
    with scope(acme.tenant.id):
        pool = connection.pool
    connection.close()
    asked = []
    wait = pool.connection_class.wait
    monkeypatch.setattr(
        pool.connection_class,
        "wait",
        lambda self, *given, **named: asked.append(self) or wait(self, *given, **named),
    )
    given = pool.getconn()
    try:
        assert given not in asked
        given.execute("SELECT 1")
        assert given in asked
    finally:
        pool.putconn(given)
