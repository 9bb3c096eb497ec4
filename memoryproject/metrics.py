"""`/metrics`, in the text format of Prometheus.

Web, worker and beat of one machine add up in the files of `PROMETHEUS_MULTIPROC_DIR`, which `make run` sets,
so that any web process answers for all of them. Without that folder a process answers for itself.
"""

import hmac
import ipaddress

import prometheus_client
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from prometheus_client.values import ValueClass

from memoryproject.gauges import StoreGauges
from memoryproject.recent import Recent

# They would tell about whichever process answers, and cannot be added up.
for _collector in (
    prometheus_client.PROCESS_COLLECTOR, prometheus_client.PLATFORM_COLLECTOR, prometheus_client.GC_COLLECTOR
):  # fmt: skip
    prometheus_client.REGISTRY.unregister(_collector)
prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]

FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")
REQUESTS = Counter("http_requests", "Requests answered.", ["method", "route", "status"])
REQUEST_SECONDS = Histogram(
    "http_request_seconds",
    "Time from a request's arrival in Python to its answer.",
    ["method", "route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10),
)
_gauges, _recent = StoreGauges(), Recent()


class _Figures(Collector):
    """Gauges that have been worked out already."""

    def __init__(self, figures: list[Metric]) -> None:
        self._figures = figures

    def collect(self) -> list[Metric]:
        return self._figures


def count_request(*, method: str, route: str, status: int, seconds: float) -> None:
    """Counts an answered request. `method` and `route` come from small, fixed sets."""
    REQUESTS.labels(method, route, status).inc()
    REQUEST_SECONDS.labels(method, route).observe(seconds)


def expose() -> bytes:
    """Every metric, of all processes that share the folder."""
    registry = CollectorRegistry()
    if getattr(ValueClass, "_multiprocess", False):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(prometheus_client.REGISTRY)
    recent = _Figures(_recent.figures(registry))
    registry.register(recent)
    registry.register(_gauges)
    return prometheus_client.generate_latest(registry)


def metrics_view(request: HttpRequest) -> HttpResponse:
    """`GET /metrics`, for who has `METRICS_TOKEN`; where none is set, for this machine."""
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD"])
    if settings.METRICS_TOKEN:
        if not _has_token(request):
            headers = {"WWW-Authenticate": 'Bearer realm="metrics"'}
            return JsonResponse({"detail": "Send METRICS_TOKEN."}, status=401, headers=headers)
    elif not _is_local(request):
        return JsonResponse({"detail": "Set METRICS_TOKEN to read this from elsewhere."}, status=403)
    return HttpResponse(expose(), content_type=prometheus_client.CONTENT_TYPE_LATEST)


def _has_token(request: HttpRequest) -> bool:
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    wanted = settings.METRICS_TOKEN.encode()
    return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(errors="replace"), wanted)


def _is_local(request: HttpRequest) -> bool:
    """Whether the caller is on this machine: a reverse proxy there is, whoever it asks for is not. A web page
    whose name was made to point here would be, but for its Host. Raises DisallowedHost."""
    if any(header in request.META for header in FORWARDED):
        return False
    request.get_host()
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
