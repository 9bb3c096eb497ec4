"""The pages people open."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def home(request: HttpRequest) -> HttpResponse:
    """Where to go from here."""
    return render(request, "console/home.html")
