"""The hints that go to the real broker; nobody takes them there."""

import os
import signal
import time

import pytest
import redis
from django.conf import settings

from tenants.jobs import wake


@pytest.fixture
def broker():
    url = settings.CELERY_BROKER_URL.replace("redis+socket://", "unix://").replace("virtual_host", "db")
    client = redis.from_url(url)
    client.delete("celery")
    yield client
    client.config_set("maxmemory", 0)
    client.delete("celery")
    client.close()


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_for_hint(broker):
    wait_until(lambda: broker.llen("celery"))


def test_a_hint_reaches_the_broker(broker):
    wake.wake(slow=False)
    wait_for_hint(broker)


def test_hints_that_nobody_takes_do_not_pile_up(broker):
    for _n in range(3 * wake.ENOUGH):
        wake.send(slow=False)
    assert broker.llen("celery") == wake.ENOUGH


def test_a_broker_that_refuses_does_not_end_the_thread(broker, caplog):
    wake.wake(slow=True)
    wait_for_hint(broker)
    broker.delete("celery")
    broker.config_set("maxmemory", 1)
    wake.send(slow=True)  # no error
    wake.wake(slow=True)
    wait_until(lambda: not wake._bell._rung and caplog.text.count("broker_away") >= 2)
    broker.config_set("maxmemory", 0)
    assert not broker.llen("celery")
    wake.wake(slow=True)
    wait_for_hint(broker)


def test_a_forked_process_rings_although_a_lock_was_held(broker):
    with wake._bell._lock, wake._bell._event._cond:
        child = os.fork()
        if not child:
            wake.wake(slow=False)
            time.sleep(30)  # the thread sends
            os._exit(0)
    try:
        wait_for_hint(broker)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
