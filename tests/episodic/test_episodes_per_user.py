from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connections, transaction

from episodic import metrics
from episodic.metrics import episodes_per_user_p99

ALL = 10**9  # pages: of those that hold no row any more, other tests leave many
FILL = """
INSERT INTO agent_episodes (id, tenant_id, namespace, user_id, agent_id, project, session, memory_type,
                            origin, text, topics, entities, outcome, metadata, created_at, embed_pending)
SELECT gen_random_uuid(), %(tenant)s, '', u.name, '', '', '', 'episodic', 'saved', 'x', '{}', '{}', '', '{}',
       now(), false
FROM unnest(%(names)s::text[], %(counts)s::int[]) u (name, count), generate_series(1, u.count)
"""


@contextmanager
def only(member, counts: dict[str, int]) -> Iterator[None]:
    """As if the table held these users' episodes and nothing else."""
    params = {"tenant": member.tenant.id, "names": list(counts), "counts": list(counts.values())}
    with transaction.atomic(using="admin"), connections["admin"].cursor() as cursor:
        cursor.execute("DELETE FROM agent_episodes")
        cursor.execute(FILL, params)
        yield
        transaction.set_rollback(True, using="admin")


@pytest.mark.parametrize(("counts", "expected"), [
    ({}, 0), ({"": 50}, 0), ({"a": 7}, 7), ({"a": 7, "b": 30, "": 99}, 30),
    ({f"u{n}": n for n in range(1, 101)}, 99),
    ({f"u{n}": 1 for n in range(200)} | {"heavy": 500}, 1),
    ({f"u{n}": 1 for n in range(50)} | {"heavy": 500}, 500),
])  # fmt: skip
def test_99_of_100_users_have_no_more(acme, monkeypatch, counts, expected):
    monkeypatch.setattr(metrics, "SAMPLED_PAGES", ALL)
    with only(acme, counts):
        assert episodes_per_user_p99() == expected


def test_a_user_is_counted_to_a_limit(acme, monkeypatch):
    monkeypatch.setattr(metrics, "SAMPLED_PAGES", ALL)
    monkeypatch.setattr(metrics, "MOST_OF_USER", 20)
    with only(acme, {"heavy": 50}):
        assert episodes_per_user_p99() == 20


def test_of_a_large_table_some_pages_tell(acme, monkeypatch):
    counts = {f"u{n}": 5 for n in range(2_000)} | {f"h{n}": 200 for n in range(60)}
    with only(acme, counts):
        with connections["admin"].cursor() as cursor:
            cursor.execute(metrics.PAGES)
            monkeypatch.setattr(metrics, "SAMPLED_PAGES", cursor.fetchone()[0] // 4)
        assert episodes_per_user_p99() == 200
