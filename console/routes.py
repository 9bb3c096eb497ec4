"""How the console's addresses are made."""

from django.urls import URLPattern, path

from console.pages import Page


def at(route: str, page: type[Page], name: str) -> list[URLPattern]:
    """A page of a tenant, with and without trailing slash."""
    full = f"console/<slug:tenant>/{route}".rstrip("/")
    view = page.as_view()
    return [path(full, view, name=name), path(f"{full}/", view)]
