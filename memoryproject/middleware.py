"""The admin's pages run as the cross-tenant database role; everything else as the app role."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from tenants.router import admin_role

Handler = Callable[[HttpRequest], HttpResponseBase]


class AdminPagesUseAdminRole:
    """Stands before session and login, whose tables only the admin role can read."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith("/admin/"):
            return self.get_response(request)
        with admin_role():
            return self.get_response(request)
