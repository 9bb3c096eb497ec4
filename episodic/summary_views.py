"""Summary views: made, listed, looked up, deleted; and which records each of them means.

A view reaches what the key reaches that made it. A key that is bound to a user sees that user's own views,
and of the views of everybody those that group by user and name nobody else: of these, its own groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, cast
from uuid import UUID

from django.db.models import Q

from episodic.models import SummaryView
from episodic.record_tests import MOMENTS, FieldTest
from episodic.types import EpisodeFilter
from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, Invalid, NotFound
from tenants.router import admin_role
from tenants.scope import scope
from tenants.subjects import actor_of, unnamed
from tenants.tombstones import refuse_erased

GroupField = Literal["user_id", "namespace", "session_id", "memory_type"]
Group = Mapping[str, str]
MOST_VIEWS = 1_000  # of a tenant
MISSING = "There is no such summary view."


class OtherGroup(Invalid):
    """The group has not the fields that the view groups by."""


@dataclass(frozen=True, slots=True)
class NewView:
    """What a caller gives. `tests` say what `filters` say, which are shown as they came."""

    name: str = ""
    group_by: tuple[GroupField, ...] = ()
    filters: Mapping[str, Any] = field(default_factory=dict)
    tests: tuple[FieldTest, ...] = ()
    time_window_days: int | None = None
    continuous: bool = False
    prompt: str = ""
    model_name: str = ""


@dataclass(frozen=True, slots=True)
class DeletedView:
    """A view that was deleted with its summaries."""

    id: UUID


def create_view(*, caller: Caller, new: NewView, now: datetime) -> SummaryView:
    """Stores a view; nothing is summarised yet. Raises Conflict when the tenant has `MOST_VIEWS` already."""
    view = SummaryView(
        tenant_id=caller.tenant_id,
        user_id=caller.user_id,
        agent_id=caller.agent_id,
        project=caller.project,
        name=new.name,
        group_by=list(dict.fromkeys(new.group_by)),
        filters=dict(new.filters),
        tests=[_plain(one) for one in new.tests],
        time_window_days=new.time_window_days,
        continuous=new.continuous,
        prompt=new.prompt,
        model_name=new.model_name,
        created_at=now,
        updated_at=now,
        created_by=unnamed(tenant_id=caller.tenant_id, principal=caller.principal),
    )
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=view.user_id, since=now)
        if SummaryView.objects.filter(tenant_id=caller.tenant_id).count() >= MOST_VIEWS:
            raise Conflict(f"There are {MOST_VIEWS} summary views already: delete one.")
        view.save(force_insert=True)
        idempotency.keep(view, user_id=view.user_id)
    return view


def list_views(*, caller: Caller) -> list[SummaryView]:
    """All within the key's reach, newest first."""
    with scope(caller.tenant_id):
        found = list(SummaryView.objects.filter(_reach(caller)).order_by("-created_at", "-id"))
    return [view for view in found if _is_shown(caller, view)]


def access_view(*, caller: Caller, view_id: str) -> SummaryView:
    """The view. Raises NotFound, also for one out of the key's reach."""
    try:
        named = UUID(view_id)
    except ValueError as error:
        raise NotFound(MISSING) from error
    with scope(caller.tenant_id):
        view = SummaryView.objects.filter(_reach(caller), id=named).first()
    if view is None or not _is_shown(caller, view):
        raise NotFound(MISSING)
    return view


def find_view(*, tenant_id: UUID, view_id: UUID) -> SummaryView | None:
    """The view, for work that was asked for before."""
    with scope(tenant_id):
        return SummaryView.objects.filter(tenant_id=tenant_id, id=view_id).first()


def delete_view(*, caller: Caller, view_id: str) -> DeletedView:
    """Deletes the view with its summaries. Raises NotFound, and Forbidden for a view of everybody by a key
    that is bound to a user."""
    view = access_view(caller=caller, view_id=view_id)
    if view.user_id != caller.user_id and caller.user_id:
        raise Forbidden("This view is not this key's user's alone.")
    done = DeletedView(view.id)
    with scope(caller.tenant_id):
        SummaryView.objects.filter(tenant_id=caller.tenant_id, id=view.id).delete()  # its summaries go along
        audit.record(
            tenant_id=caller.tenant_id,
            actor=actor_of(caller, view.user_id),
            action="summary_view.delete",
            target=str(view.id),
        )
        idempotency.keep(done, user_id=view.user_id)
    return done


def continuous_views() -> list[tuple[UUID, UUID]]:
    """Tenant and id of each view that the clock refreshes. Asks as the admin role."""
    with admin_role():
        found = SummaryView.objects.filter(continuous=True).order_by("tenant_id", "id")
        return list(found.values_list("tenant_id", "id"))


def records_meant(view: SummaryView, *, now: datetime, group: Group | None = None) -> EpisodeFilter:
    """Which records the view means, or one of its groups."""
    tests = [_test(one) for one in view.tests]
    if view.time_window_days is not None:
        tests.append(FieldTest("created_at", "gte", now - timedelta(days=view.time_window_days)))
    tests += [FieldTest(cast(GroupField, name), "eq", value) for name, value in (group or {}).items()]
    return EpisodeFilter(
        user_id=view.user_id or None,
        agent_id=view.agent_id or None,
        project=view.project or None,
        tests=tuple(tests),
    ).narrowed()


def check_group(*, caller: Caller, view: SummaryView, group: Group) -> None:
    """Raises OtherGroup for one with other fields than the view groups by, and Forbidden for another user's
    than the key is bound to."""
    if set(group) != set(view.group_by):
        raise OtherGroup(f"group must have exactly the keys {sorted(view.group_by)}", "group")
    if caller.user_id and group.get("user_id", caller.user_id) != caller.user_id:
        raise Forbidden("This key is bound to another user.")


def _reach(caller: Caller) -> Q:
    bound = {"agent_id": caller.agent_id, "project": caller.project}
    condition = Q(tenant_id=caller.tenant_id, **{name: value for name, value in bound.items() if value})
    if caller.user_id:
        condition &= Q(user_id=caller.user_id) | Q(user_id="", group_by__contains=["user_id"])
    return condition


def _is_shown(caller: Caller, view: SummaryView) -> bool:
    """Not to a key that is bound to a user, if the view names another."""
    if not caller.user_id or view.user_id:
        return True
    named = [one["value"] for one in view.tests if one["field"] == "user_id"]
    return all(value in (caller.user_id, [caller.user_id]) for value in named)


def _plain(test: FieldTest) -> dict[str, Any]:
    value = test.value
    if isinstance(value, datetime):
        value = value.isoformat()
    return {"field": test.field, "operator": test.operator, "value": value}


def _test(stored: Mapping[str, Any]) -> FieldTest:
    value: str | Sequence[str] = stored["value"]
    if stored["field"] in MOMENTS:
        return FieldTest(stored["field"], stored["operator"], datetime.fromisoformat(str(value)))
    return FieldTest(stored["field"], stored["operator"], value if isinstance(value, str) else tuple(value))
