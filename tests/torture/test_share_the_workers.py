import pytest

pytestmark = pytest.mark.processes
MANY = 10_000
BEFORE = """
SELECT count(*) FROM tenants_auditentry WHERE tenant_id = %s AND action = 'torture.effect'
AND id < (
    SELECT id FROM tenants_auditentry WHERE tenant_id = %s AND action = 'torture.effect'
    ORDER BY id DESC LIMIT 1
)
"""


def test_a_tenants_thousands_of_jobs_do_not_hold_up_anothers_ten(works):
    busy, small = works.tenant(), works.tenant()
    works.add_many(busy, "torture.work", MANY, '{"ms": 1}')
    works.wait_until(lambda: works.counted(busy, "torture.effect"))
    for n in range(10):
        works.add(small, "torture.work", f"small-{n}", ms=1)
    works.wait_until(lambda: works.drained(busy, small))
    [(before,)] = works.rows(BEFORE, busy, small)
    assert before < MANY * 0.7
    for tenant in (busy, small):
        works.assert_exactly_once(tenant)
    print(f"longest wait of the ten: {works.longest_wait(small):.2f} s")
