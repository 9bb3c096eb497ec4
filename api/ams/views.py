"""What every view of this dialect shares."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from api.ams import errors
from api.ams.renderers import FastJSONRenderer
from api.errors import Problem
from api.views import DialectView
from tenants.errors import Unauthenticated
from working.workspace_state import EmptyMessage


class AmsView(DialectView):
    """A view of this dialect. Unknown fields and query parameters are ignored."""

    renderer_classes = (FastJSONRenderer,)

    def shape(self, problem: Problem) -> Any:
        return errors.shape(problem)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, errors.Refused):
            return Response({"detail": exc.details}, status=422)
        if isinstance(exc, errors.BadRequest | EmptyMessage):
            return Response({"detail": str(exc)}, status=400)
        if isinstance(exc, Unauthenticated):
            return self._without_key()
        return super().handle_exception(exc)

    def _without_key(self) -> Response:
        """401; only whoever sent no key is told how to."""
        request: Request = self.request
        if "Authorization" in request.headers or "X-API-Key" in request.headers:
            return Response({"detail": errors.WRONG_KEY}, status=401)
        return Response({"detail": errors.NO_KEY}, status=401, headers={"WWW-Authenticate": "Bearer"})
