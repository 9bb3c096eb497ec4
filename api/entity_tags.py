"""`If-Match` and `If-None-Match`: the versions that a request names by their entity tags."""

import re
from typing import Any

from rest_framework.request import Request

from tenants.errors import Invalid

ENTITY_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
ENTITY_TAGS = re.compile(rf"\s*{ENTITY_TAG}\s*(?:,\s*{ENTITY_TAG}\s*)*")
NO_VERSION = -1  # versions begin at 0 or 1


def named_versions(request: Request, header: str, *, weak: bool) -> frozenset[int] | None:
    """The versions that the header names, empty for `*`, None without the header (RFC 9110, 13.1). A weak tag
    counts only where `weak` says so; one that is no version of ours is none that we have."""
    raw: Any = request.headers.get(header)
    if raw is None:
        return None
    if raw.strip() == "*":
        return frozenset()
    if not ENTITY_TAGS.fullmatch(raw):
        raise Invalid('Must be * or entity tags such as "1".', header)
    found = re.findall(r'(W/)?"(\d{1,18})"', raw, re.ASCII)
    versions = {int(number) for is_weak, number in found if weak or not is_weak}
    return frozenset(versions) or frozenset({NO_VERSION})
