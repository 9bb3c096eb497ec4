import random
import time

import pytest

from tests.torture.works import LONG, PATIENCE, frozen

pytestmark = pytest.mark.processes
SECONDS = 180 if LONG else 4


def test_whatever_is_killed_at_random_each_effect_happens_once(works):
    """Both lanes write all the time, while workers, broker and PostgreSQL are killed and started again."""
    tenants = [works.tenant(), works.tenant()]
    jobs, rate = int(SECONDS * 60), 80
    written = [
        works.write(tenant, jobs=jobs, rate=rate, kind=kind, threads=2, prefix=f"{kind}-")
        for tenant, kind in zip(tenants, ("torture.quick", "torture.kept"), strict=True)
    ]
    seed = time.time_ns()
    print(f"seed {seed}")
    chance = random.Random(seed)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        chance.choice([_kill_worker, _kill_worker, _freeze_worker, _lose_broker, _lose_postgresql])(
            works, chance
        )
        works.pause(chance.uniform(0.2, 2.0))
    works.wait_until(lambda: all(one.ended() for one in written), 2 * PATIENCE)
    works.wait_until(lambda: works.drained(*tenants), 2 * PATIENCE)
    for tenant, one in zip(tenants, written, strict=True):
        works.assert_exactly_once(tenant, one)
    print(f"{sum(one.count() for one in written)} writes, deaths: {dict(works.deaths)}")


def _kill_worker(works, chance) -> None:
    works.programs[chance.choice(["one", "two"])].kill()


def _freeze_worker(works, chance) -> None:
    works.keep()
    with frozen(works.pid(chance.choice(["one", "two"]))):
        time.sleep(chance.uniform(0.5, 5))


def _lose_broker(works, chance) -> None:
    works.broker.kill()
    time.sleep(chance.uniform(0, 1))
    works.broker.start()


def _lose_postgresql(works, chance) -> None:
    works.stores.postgres.kill()
    time.sleep(chance.uniform(0, 1))
    works.stores.postgres.start()
