"""A person's id in other people's rows: out of lists it is taken, the row stays and the item goes.

Only what is the id as a whole, as with the residue scan. What stands in prose stays.
"""

import json
from collections.abc import Collection, Iterable, Set
from typing import Any

from django.db.models import Q, QuerySet

from tenants.idempotency import NOT_KEPT
from tenants.models import StoredAnswer
from tenants.privacy.registry import BATCH, Subject
from tenants.privacy.words import KEYS
from tenants.subjects import token_principal


def names_of(subject: Subject) -> list[str]:
    """The id, and the principal of the person's tokens."""
    return [subject.user_id, token_principal(subject.user_id)]


def forms_of(subject: Subject) -> tuple[str, ...]:
    """Text or JSON that says one of these names holds one of these pieces; what holds none need not be
    parsed."""
    names = names_of(subject)
    forms = [form for one in names for form in (one, json.dumps(one), json.dumps(one, ensure_ascii=False))]
    return tuple(dict.fromkeys(form.strip('"') for form in forms))


def without(items: Iterable[Any], names: Collection[str]) -> list[Any]:
    """The items that are none of the names."""
    return [one for one in items if not (isinstance(one, str) and one in names)]


def lists_without(value: Any, names: Collection[str]) -> Any:
    """JSON without the names in any list, at any depth."""
    if isinstance(value, dict):
        return {name: lists_without(one, names) for name, one in value.items()}
    if isinstance(value, list):
        return [lists_without(one, names) for one in without(value, names)]
    return value


def says(value: Any, names: Set[str], *, by_name: bool) -> bool:
    """Whether JSON says one of the names as a whole value, at any depth and not as a word of another kind;
    with `by_name`, also as the name of a value."""
    unread = [value]
    while unread:
        one = unread.pop()
        if isinstance(one, str) and one in names:
            return True
        if isinstance(one, list):
            unread += one
        elif isinstance(one, dict):
            if by_name and not names.isdisjoint(one):
                return True
            unread += [inner for name, inner in one.items() if not (name in KEYS and isinstance(inner, str))]
    return False


def _shows_kept_under(value: Any, names: Collection[str]) -> bool:
    """Whether JSON has, at any depth, something with a `namespace` of which one of the names is a label."""
    unread = [value]
    while unread:
        one = unread.pop()
        if isinstance(one, list):
            unread += one
        elif isinstance(one, dict):
            path = one.get("namespace")
            if isinstance(path, list) and without(path, names) != path:
                return True
            unread += one.values()
    return False


def scrub_lists(rows: QuerySet[Any], columns: tuple[str, ...], subject: Subject) -> int:
    """Takes the person out of these arrays of at most `BATCH` of the rows, in the open scope; of how many,
    0 when none is left."""
    names, naming = names_of(subject), Q()
    for column in columns:
        naming |= Q(**{f"{column}__overlap": names})
    found = list(rows.filter(naming).select_for_update().order_by("id").only("id", *columns)[:BATCH])
    for row in found:
        for column in columns:
            setattr(row, column, without(getattr(row, column), names))
        row.save(update_fields=list(columns))
    return len(found)


def scrub_answers(subject: Subject) -> int:
    """Likewise in answers about others that are kept for a repeated request: they show the lists as well. Of
    one that says the id elsewhere, only that there was one is kept: the request is not carried out again."""
    names = names_of(subject)
    quoted = Q()
    for name in names:
        quoted |= Q(body__contains=json.dumps(name, ensure_ascii=False)) | Q(body__contains=json.dumps(name))
    found = StoredAnswer.objects.filter(
        quoted, tenant_id=subject.tenant_id, created_at__lte=subject.until
    ).select_for_update()
    scrubbed = 0
    for answer in found.order_by("id").iterator(chunk_size=BATCH):
        body = _scrubbed(answer.body, names)
        if body == "":
            answer.status, answer.headers = NOT_KEPT, {}
        if body is not None:
            answer.body = body
            answer.save(update_fields=["status", "headers", "body"])
            scrubbed += 1
    return scrubbed


def _scrubbed(body: str, names: Collection[str]) -> str | None:
    """JSON without the names in any list; empty where it says them elsewhere, too, or shows what is kept in a
    namespace of the name; None: it says none."""
    try:
        value = json.loads(body)
        kept = lists_without(value, names)
    except (ValueError, RecursionError):
        return None
    if _shows_kept_under(value, names) or says(kept, frozenset(names), by_name=False):
        return ""
    if kept == value:
        return None
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
