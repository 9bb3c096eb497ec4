"""The table of calls, the views and Django's URLs say the same."""

import httpx
import pytest

from api.ams.health import ClockView
from api.native.exports import ExportLinkView, ReceiptKeyView
from api.native.procedures import WRITES, ReadOnly
from api.native.views import NativeView
from api.views import DialectView
from memoryproject.health import HealthView, ReadyView
from tenants.caller import SCOPES
from tests.api.call import quoted
from tests.api.calls import CALLS, HTTP_METHODS, methods, routes
from tests.api.refusals import assert_refusal

PUBLIC = {
    "SpectacularAPIView",
    "SpectacularSwaggerSplitView",
    "RedirectView",  # to the picture beside a page's name
    "change_own_password",  # a page of the admin
    HealthView.__name__,
    ReadyView.__name__,
    ClockView.__name__,  # tests/ams
    # The native routes without a key: tests/privacy.
    ExportLinkView.__name__,
    ReceiptKeyView.__name__,
}
VIEWS = sorted({view for view, _ in routes() if view.__name__ not in PUBLIC}, key=lambda view: view.__name__)


def test_every_method_of_every_route_is_in_the_table_of_calls():
    in_urls = {(view, method) for view in VIEWS for method in methods(view)}
    assert {(call.view, call.method) for call in CALLS} == in_urls


def test_a_route_has_one_view_and_a_view_one_route():
    patterns = [pattern for view, pattern in routes() if view in VIEWS]
    assert len(patterns) == len(set(patterns)) == len(VIEWS)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_a_view_says_which_scope_each_of_its_methods_needs(view):
    assert issubclass(view, DialectView)
    assert view.scopes.keys() == methods(view)
    either = {method: {one} if isinstance(one, str) else set(one) for method, one in view.scopes.items()}
    assert set().union(*either.values()) <= set(SCOPES)
    calls = {call.method: call for call in CALLS if call.view is view}
    needed = {method: "read" if call.asks_inside else call.scope for method, call in calls.items()}
    assert either == {method: {needed[method], call.or_scope} - {""} for method, call in calls.items()}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_only_views_under_api_v1_are_native(view):
    (pattern,) = [pattern for one, pattern in routes() if one is view]
    assert issubclass(view, NativeView) == pattern.startswith("api/v1/")


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_every_call_is_answered(acme, call):
    acme.http.post("/api/v1/sessions", json={"session_id": "s"})
    assert call.send(call.by(acme)).is_success


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_a_method_that_a_route_lacks_is_405(acme, call):
    for method in {*HTTP_METHODS, "TRACE"} - methods(call.view) - refused(call.view):
        answer = acme.http.request(method, call.url())
        assert_refusal(answer, call, 405)
        assert call.method in answer.headers["allow"]


def refused(view: type[DialectView]) -> set[str]:
    """Methods that are answered 403, whoever asks (tests/native/test_procedures.py)."""
    return set(WRITES) if ReadOnly in view.permission_classes else set()


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_head_and_options_are_answered(acme, call):
    acme.http.post("/api/v1/sessions", json={"session_id": "s"})
    acme.http.put("/api/v1/sessions/s/checkpoint", json=1)
    assert acme.http.options(call.url()).status_code == 200
    read = next((one for one in CALLS if one.view is call.view and one.method == "GET"), call)
    member = read.by(acme)
    head = member.http.head(read.request(member).url)
    assert head.status_code == (200 if "GET" in methods(call.view) else 405)
    assert head.content == b""


@pytest.mark.parametrize(
    "path",
    ["/nowhere", "/working-memory", "/working-memory/", "/episodic", "/ledger/", "/apix", "/v1", "/memory",
     "/a%00b", "/%ff", "/%E2%82%AC", "/static/nothing.css", "/health/x"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_route_is_404_in_json(server, acme, method, path):
    for client in (httpx, acme.http):
        url = server + path if client is httpx else path
        answer = client.request(method, url)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
        assert answer.json() == {"detail": "Not found."}


@pytest.mark.parametrize("path", ["/api/v1/", "/api/v1/nowhere", "/api/v1/recall/x"])
def test_an_unknown_native_route_is_404_as_a_problem(acme, path):
    answer = acme.http.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert (answer.json()["status"], answer.json()["title"]) == (404, "Not Found")


@pytest.mark.parametrize("path", ["/health", "/ready"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_health_is_only_read(server, method, path):
    answer = httpx.request(method, server + path)
    assert (answer.status_code, answer.headers["content-type"]) == (405, "application/json")
    assert answer.json().keys() == {"detail"}


def test_a_bad_host_header_is_answered_in_json(server):
    answer = httpx.get(f"{server}/working-memory/{quoted('c')}", headers={"Host": "evil.example"})
    assert answer.status_code in (400, 401)
    assert answer.headers["content-type"] == "application/json"
