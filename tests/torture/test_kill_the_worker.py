import pytest

from tests.torture.kinds import QUICK_STEPS, SLOW_STEPS

pytestmark = pytest.mark.processes


@pytest.mark.parametrize(("kind", "steps"), [("torture.quick", QUICK_STEPS), ("torture.slow", SLOW_STEPS)])
def test_a_worker_killed_at_each_step_of_a_job_loses_nothing_and_repeats_nothing(works, kind, steps):
    tenant = works.tenant()
    for step in steps:
        victim = f"{kind}-{step}"
        works.add(tenant, kind, *(f"{victim}-before-{n}" for n in range(5)))
        works.add(tenant, kind, victim, die=step)
        works.add(tenant, kind, *(f"{victim}-after-{n}" for n in range(5)))
        works.wait_until(works.mark(victim, step).exists, 30)
    works.wait_until(lambda: works.deaths.total() == len(steps))
    works.wait_until(lambda: works.drained(tenant))
    works.assert_exactly_once(tenant)
    assert len(works.counted(tenant, "torture.effect")) == 11 * len(steps)
