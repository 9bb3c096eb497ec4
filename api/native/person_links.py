"""Links that lead people to their own pages, and their end."""

from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import once
from api.native.serializers import Strict
from api.native.views import NativeView
from api.views import caller_of, checked_id, json_body, validated
from tenants.person_links import LONGEST, PersonLink, Revoked, make_link, revoke_links


class NewLink(Strict):
    """For how long; `PERSON_LINK_SECONDS` where nothing is said."""

    seconds = serializers.IntegerField(min_value=60, max_value=LONGEST, required=False)


class PersonLinkAnswer(serializers.Serializer[Any]):
    """Whoever has the link is taken for the person until then."""

    url = serializers.URLField()
    expires_at = serializers.DateTimeField()


class LinkView(NativeView):
    """`/api/v1/subjects/{user_id}/link`"""

    scopes = {"POST": "privacy", "DELETE": "privacy"}

    @extend_schema(
        summary="Make a link to a person's own pages",
        request=NewLink,
        responses={201: PersonLinkAnswer},
    )
    def post(self, request: Request, user_id: str) -> Response:
        body = json_body(request)
        fields = validated(NewLink, {} if body is None else body)
        named = checked_id(user_id, "user_id")
        write = partial(make_link, caller=caller_of(request), user_id=named, now=timezone.now(), **fields)
        return once(request, PersonLink, write, partial(_answer, request))

    @extend_schema(
        summary="Revoke every link to a person's own pages that was made so far, and end the visits by them",
        responses={204: None},
    )
    def delete(self, request: Request, user_id: str) -> Response:
        named = checked_id(user_id, "user_id")
        revoke = partial(revoke_links, caller=caller_of(request), user_id=named)
        return once(request, Revoked, revoke, lambda _done: Response(status=204))


def _answer(request: Request, link: PersonLink) -> Response:
    url = request.build_absolute_uri(link.path)
    return Response({"url": url, "expires_at": link.expires_at}, status=201)
