"""A session that is left alone, and what the tests do to it and see of it."""

from unittest.mock import patch

from django.utils import timezone
from django_redis import get_redis_connection

from episodic.models import Episode
from ledger import injections
from recall import lifecycle
from recall.lifecycle import END_IDLE, end_idle_session, sweep_sessions
from tenants.jobs import runner
from tenants.models import Job
from tenants.scope import scope
from tests.working.conversation import S
from working import keys
from working.sessions import access_session


def tell(caller, item):
    injections.mark_item(caller=caller, address=S, item_key=item, value="1", now=timezone.now())


def sweep():
    """With time for every tenant that the other tests have left."""
    with patch.object(lifecycle, "SEARCH", 60.0):
        return sweep_sessions(now=timezone.now())


def jobs(caller):
    with scope(caller.tenant_id):
        found = Job.objects.filter(tenant_id=caller.tenant_id, kind=END_IDLE)
        return list(found.values_list("payload__session", flat=True))


def run_jobs():
    while runner.run_jobs(slow=True):
        pass


def session_of(caller, address=S):
    return access_session(caller=caller, address=address)


def has_ended(caller, address=S):
    return session_of(caller, address).ended_at is not None


def episodes(caller):
    with scope(caller.tenant_id):
        return list(Episode.objects.filter(tenant_id=caller.tenant_id).order_by("created_at"))


def end(caller):
    return end_idle_session(tenant_id=caller.tenant_id, session_id=session_of(caller).id, now=timezone.now())


def lose_nothing_since(caller):
    get_redis_connection().zadd(keys.IDLE, {lifecycle.activity.BEGUN: -1})
