"""`/health`: the process answers. `/ready`: it can serve; what is merely slower or later is `degraded`."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from providers.embeddings import get_embedder, next_embedder
from tenants.scope import unscoped
from working import redis

NAME = "strata"  # KAOS's probes ask whom they have reached


class PublicView(APIView):
    """A view that anyone may ask: it tells nothing about memories."""

    authentication_classes = ()
    permission_classes = ()


class HealthView(PublicView):
    """`GET /health`, with the time in seconds."""

    @extend_schema(summary="Alive", responses=dict)
    def get(self, request: Request) -> Response:
        return Response({"status": "ok", "name": NAME, "timestamp": int(time.time())})


class ReadyView(PublicView):
    """`GET /ready`: 503 without database, migrations or model; `degraded` without Redis or worker.

    An outside model counts as Redis does: when it is down, it is down for every process, and what does not
    search by meaning goes on without it. So does the second model during a change.
    """

    @extend_schema(summary="Able to serve", responses=dict)
    def get(self, request: Request) -> Response:
        database = _database()  # when it is away, asking it again would only keep the probe waiting
        needed = {"database": database, "migrations": database and _migrations.holds()}
        wanted = {"redis": redis.is_up(), "worker": redis.worker_seen()}
        if settings.EMBEDDING_PROVIDER == "local":
            needed["model"] = _model.holds()
        else:
            wanted["model"] = get_embedder().answers()
        if settings.EMBEDDING_NEXT_PROVIDER:
            wanted["next_model"] = _next_model.holds()
        ready = all(needed.values())
        status = ("ok" if all(wanted.values()) else "degraded") if ready else "unavailable"
        checks = {name: "ok" if holds else "away" for name, holds in (needed | wanted).items()}
        return Response({"status": status, "checks": checks}, status=200 if ready else 503)


@dataclass
class _Remembered:
    """A check whose success is believed for a while: it is too slow to repeat at every probe."""

    check: Callable[[], bool]
    seconds: float
    until: float = 0.0

    def holds(self) -> bool:
        if time.monotonic() < self.until:
            return True
        held = self.check()
        if held:
            self.until = time.monotonic() + self.seconds
        return held


def _database() -> bool:
    try:
        with unscoped(), connections["default"].cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _migrated() -> bool:
    try:
        with unscoped():
            executor = MigrationExecutor(connections["default"])
            return not executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return False


def _embeds() -> bool:
    return get_embedder().answers()


def _embeds_next() -> bool:
    other = next_embedder()
    return other is not None and other.answers()


_migrations = _Remembered(_migrated, 60)
_model = _Remembered(_embeds, 5)
_next_model = _Remembered(_embeds_next, 5)
