"""What every answer tells a browser: which scripts, styles and addresses a page of ours may use."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

Handler = Callable[[HttpRequest], HttpResponseBase]

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)
PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
PRIVATE = ("/console/", "/me/", "/admin/", "/sign-", "/invitation/")


class BrowserSecurity:
    """Adds a Content-Security-Policy to pages: no inline script or style, nothing from third parties. What
    shows memories is kept by no cache."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_private = f"{request.path_info}/".startswith(PRIVATE)  # what has a slash is served without it, too
        if is_private:
            request.get_host()  # refuses a name that is not ours, as another site may point one here
        response = self.get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Content-Security-Policy", POLICY)
            response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        if is_private:
            response.headers["Cache-Control"] = "no-store"
        return response
