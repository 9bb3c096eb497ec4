"""Whether the server answers: clients ask before anything else, and send no key."""

import time
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.ams import schemas
from api.ams.views import AmsView


class ClockView(AmsView):
    """`/v1/health`"""

    authentication_classes: Any = []
    permission_classes: Any = []

    @extend_schema(operation_id="v1_health", summary="Alive", auth=[], responses=schemas.Health)
    def get(self, request: Request) -> Response:
        return Response({"now": int(time.time() * 1000)})
