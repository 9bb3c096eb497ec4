"""The first view of each page of the console: 100,000 observations and as many episodes in one tenant.

Two figures a page: the very first request of a new web process, and the usual one. The floor is the choice of
tenants, which asks who is signed in and where, and shows nothing else.
"""

import argparse
import time

import httpx

from tests.benchmarks.figures import Figures, summarise
from tests.benchmarks.notes import seed_observations
from tests.benchmarks.stage import Stage
from tests.benchmarks.web import start_default

COUNT = 100_000
PROJECTS = 200
TIMES = 30
FLOOR = "/console/?choose=1"
# A word of many observations, and one of none, for which the meaning is searched in all.
PAGES = (
    "", "observations", "observations?type=decision", "observations?q=lubaba", "observations?q=cluster",
    "observations/duplicates", "episodes", "entities", "people", "sessions", "documents", "recall", "ledger",
    "decisions", "jobs", "audit", "policy",
)  # fmt: skip


def report(place: Stage, options: argparse.Namespace) -> dict[str, object]:
    """Milliseconds of each page as its reader's browser would wait for it, one at a time."""
    from tenants.models import Tenant
    from tenants.router import admin_role
    from tests.console.people import signed_in

    place.episodes(COUNT)
    tenant_id = place.members[0].tenant_id
    seed_observations(place.superuser_url, tenant_id, count=COUNT, projects=PROJECTS)
    with admin_role():
        tenant = Tenant.objects.get(id=tenant_id)
    figures: dict[str, object] = {}
    print(f"{'milliseconds':36} {'first':>8} {'p50':>8} {'p95':>8} {'floor':>8}", flush=True)
    for page in PAGES:
        web = start_default(place.environment, place.log)
        try:
            with signed_in(tenant, web.url).http as http:
                first = _time(http, f"/console/{tenant.slug}/{page}")
                usual = _times(http, f"/console/{tenant.slug}/{page}", options)
                floor = _times(http, FLOOR, options)
        finally:
            web.stop()
        print(
            f"{page or 'overview':36} {first:8.1f} {usual.p50:8.1f} {usual.p95:8.1f} {floor.p50:8.1f}",
            flush=True,
        )
        figures[page or "overview"] = {"first": first, "served": usual, "floor": floor}
    return figures


def _times(http: httpx.Client, path: str, options: argparse.Namespace) -> Figures:
    begun = time.perf_counter()
    taken = [_time(http, path) for _ in range(5 if options.quick else TIMES)]
    return summarise(taken, seconds=time.perf_counter() - begun, clients=1)


def _time(http: httpx.Client, path: str) -> float:
    begun = time.perf_counter()
    answer = http.get(path)
    taken = (time.perf_counter() - begun) * 1_000
    assert answer.status_code == 200, f"{path}: {answer.status_code}"
    return taken
