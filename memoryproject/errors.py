"""Answers where no view answers: unknown routes, requests that Django refuses, faults of ours."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views import defaults

from api.aegis import errors as aegis
from api.agentops import errors as agentops
from api.ams import errors as ams
from api.errors import Problem
from api.kaos import errors as kaos
from api.native import errors as native

BROWSER_PAGES = ("/admin/", "/console", "/me/", "/sign-")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """400, such as for a Host header that is not ours."""
    return _answer(request, Problem(400, "The request is not acceptable."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """404"""
    if request.path_info.startswith(BROWSER_PAGES):
        return defaults.page_not_found(request, exception)
    if agentops.is_ours(request.path_info):
        return HttpResponse(agentops.NOT_FOUND, status=404, content_type="text/plain; charset=utf-8")
    if ams.is_ours(request.path_info):
        return JsonResponse({"detail": ams.NOT_FOUND}, status=404)
    if kaos.is_ours(request.path_info):
        return JsonResponse({"detail": kaos.NOT_FOUND}, status=404)
    return _answer(request, Problem(404, "Not found."))


def server_error(request: HttpRequest) -> HttpResponseBase:
    """500; what went wrong stands in the log only."""
    if request.path_info.startswith(BROWSER_PAGES):
        return defaults.server_error(request)
    if ams.is_ours(request.path_info):
        return HttpResponse(ams.FAULT, status=500, content_type="text/plain; charset=utf-8")
    return _answer(request, Problem(500, HTTPStatus(500).description + "."))


def _answer(request: HttpRequest, problem: Problem) -> JsonResponse:
    """In the shape of the dialect that the path belongs to."""
    if request.path_info.startswith("/api/v1/"):
        return JsonResponse(
            native.shape(problem), status=problem.status, content_type="application/problem+json"
        )
    dialect = agentops if agentops.is_ours(request.path_info) else aegis
    return JsonResponse(dialect.shape(problem), status=problem.status)
