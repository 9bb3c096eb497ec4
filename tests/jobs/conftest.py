import psycopg
import pytest

from tests.plugin import STORES


@pytest.fixture(autouse=True)
def _nothing_of_others() -> None:
    """What other tests have left in the queue is put off."""
    with psycopg.connect(STORES.postgres.superuser_url("strata"), autocommit=True) as connection:
        connection.execute("UPDATE tenants_job SET run_at = now() + interval '1 day' WHERE state = 'queued'")
