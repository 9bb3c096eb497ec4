"""How long recalls took, by tenant and hour."""

import os
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from ledger import latency
from ledger.latency import BOUNDS, KEPT, Tally, quantile
from ledger.models import RecallHour
from tenants.router import admin_role


def buckets(**counts):
    found = [0] * (len(BOUNDS) + 1)
    for bound, count in counts.items():
        found[BOUNDS.index(float(bound[1:])) if bound != "longer" else len(BOUNDS)] = count
    return found


@pytest.mark.parametrize(
    ("counted", "share", "expected"),
    [
        (buckets(), 0.5, None),
        (buckets(_10=4), 0.5, 7.5),  # half way from 5 to 10
        (buckets(_10=5, _100=5), 0.5, 10.0),
        (buckets(_10=90, _100=10), 0.95, 87.5),
        (buckets(longer=3), 0.5, 5_000.0),
    ],
)
def test_a_quantile_lies_within_its_bucket(counted, share, expected):
    assert quantile(counted, share) == expected


def test_recalls_are_added_up_by_hour(acme, globex):
    now = timezone.now().replace(minute=30)
    for seconds in (0.004, 0.004, 0.09):
        latency.note_recall(tenant_id=acme.tenant.id, seconds=seconds, now=now)
    latency.flush()
    latency.note_recall(tenant_id=acme.tenant.id, seconds=0.004, now=now)
    latency.note_recall(tenant_id=acme.tenant.id, seconds=0.004, now=now - timedelta(hours=1))
    latency.flush()
    earlier, last = latency.recalls_by_hour(tenant_id=acme.tenant.id, since=now - timedelta(hours=5))
    assert (earlier.count, last.count) == (1, 4)
    assert last.hour == now.replace(minute=0, second=0, microsecond=0)
    assert last.p50 < 5 < 75 < last.p95 < 100
    assert latency.recalls_by_hour(tenant_id=globex.tenant.id, since=now - timedelta(hours=5)) == []


def test_a_recall_over_the_api_is_counted(acme):
    from episodic.types import EpisodeFilter
    from recall.recall import recall
    from recall.types import RecallQuery

    begun = timezone.now()
    recall(caller=acme.caller, query=RecallQuery("rain", EpisodeFilter(user_id="ann"), profile="keyword"))
    latency.flush()
    hours = latency.recalls_by_hour(tenant_id=acme.tenant.id, since=begun)
    assert [one.count for one in hours] == [1]


def test_what_could_not_be_written_is_written_later():
    written, away = [], [True]

    def write(account, counted):
        if away[0]:
            raise OperationalError("away")
        written.append((account, sum(counted)))

    tally = Tally(write)
    tally._pid = os.getpid()  # without the thread
    account = (object(), timezone.now())
    tally.add(account, 4)
    with pytest.raises(OperationalError):
        tally.flush()
    tally.add(account, 4)
    away[0] = False
    tally.flush()
    tally.flush()
    assert written == [(account, 2)]


def test_old_accounts_are_deleted(acme):
    now = timezone.now()
    for age in (KEPT + timedelta(hours=2), timedelta()):
        latency.note_recall(tenant_id=acme.tenant.id, seconds=0.01, now=now - age)
    latency.flush()
    assert latency.expire_recalls(now=now) >= 1
    with admin_role():
        assert RecallHour.objects.filter(tenant_id=acme.tenant.id).count() == 1
