import uuid

import pytest

from tenants.drawing import draw

TENANT = uuid.UUID(int=7)


def lots(purpose="trial", tenant_id=TENANT, count=2_000):
    return [draw(purpose, tenant_id=tenant_id, unit=f"session\x00ann\x00{n}") for n in range(count)]


def test_a_unit_draws_the_same_number_each_time():
    assert lots() == lots()
    assert all(0 <= one < 1 for one in lots())


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9])
def test_a_share_is_drawn_about_as_often(share):
    among = sum(one < share for one in lots()) / 2_000
    assert among == pytest.approx(share, abs=4 * (share * (1 - share) / 2_000) ** 0.5)


@pytest.mark.parametrize("other", [{"purpose": "evaluation"}, {"tenant_id": uuid.UUID(int=8)}])
def test_another_purpose_or_tenant_draws_other_numbers(other):
    half = [one < 0.5 for one in lots()]
    same = sum(one == (two < 0.5) for one, two in zip(half, lots(**other), strict=True))
    assert 900 < same < 1_100


def test_who_does_not_know_the_key_cannot_choose(settings):
    before = lots(count=10)
    settings.SECRET_KEY = "another"
    assert lots(count=10) != before
