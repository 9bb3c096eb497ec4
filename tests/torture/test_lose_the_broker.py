import time
from contextlib import ExitStack

import numpy as np
import pytest

from tests.torture.works import JOBS, LONG, frozen

pytestmark = pytest.mark.processes
SECONDS = 60 if LONG else 2


@pytest.mark.parametrize("fault", ["killed", "frozen"])
def test_while_the_broker_is_away_writers_are_as_fast_and_afterwards_all_is_done(works, fault):
    tenant = works.tenant()
    written = works.write(tenant, jobs=JOBS, rate=JOBS / SECONDS / 1.6)
    works.wait_until(lambda: written.count() > JOBS / 5)
    begin = time.monotonic()
    with ExitStack() as stack:
        if fault == "frozen":
            stack.enter_context(frozen(works.broker.pid))
        else:
            works.broker.kill()
            stack.callback(works.broker.start)
        works.pause(SECONDS)
        end = time.monotonic()
    works.wait_until(written.ended)
    works.wait_until(lambda: works.drained(tenant))
    works.assert_exactly_once(tenant, written)
    assert written.outcomes() == {"ok"}
    before, during = written.milliseconds(0, begin), written.milliseconds(begin, end)
    assert len(during) > 20
    # A write that asked the broker would be refused and try again after 0.2 s, or wait for 2 to 10 s.
    assert np.median(during) < max(3 * np.median(before), 150)
    print(f"a write takes {np.median(before):.1f} ms before, {np.median(during):.1f} ms during")
