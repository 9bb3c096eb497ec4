"""The conditions of an episode filter, as SQL. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from episodic.record_tests import test_conditions, test_params
from episodic.types import EpisodeFilter

# The subject's columns stand in both tables; the rest is known to the episodes alone.
SUBJECT_CONDITIONS = {"user_id": "user_id = %(user_id)s", "agent_id": "agent_id = %(agent_id)s"}
EPISODE_CONDITIONS = {
    "project": "project = %(project)s",
    "session_id": "session = %(session_id)s",
    "namespace": "namespace = %(namespace)s",
    "memory_types": "memory_type = ANY(%(memory_types)s)",
    "topics": "topics && %(topics)s",
    "since": "coalesce(event_date, created_at) >= %(since)s",
    "until": "coalesce(event_date, created_at) <= %(until)s",
}

# Both tables know the end of an episode's validity, the episodes alone its begin.
HOLDS_NOW = "(valid_to IS NULL OR valid_to > now())"
HELD = "coalesce(valid_from, created_at) <= %(as_of)s AND (valid_to IS NULL OR valid_to > %(as_of)s)"


def params_of(where: EpisodeFilter) -> dict[str, Any]:
    """The conditions that are set."""
    names = ("user_id", "agent_id", "project", "session_id", "namespace", "memory_types", "topics")
    given = {name: getattr(where, name) for name in (*names, "since", "until", "as_of")}
    plain = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value not in (None, ())
    }
    return plain | test_params(where.tests)


def conditions_of(where: EpisodeFilter, params: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """What both tables know, and what the episodes alone know, of the conditions in `params`."""
    subject = [sql for name, sql in SUBJECT_CONDITIONS.items() if name in params]
    further = [sql for name, sql in EPISODE_CONDITIONS.items() if name in params]
    tests = zip(where.tests, test_conditions(where.tests), strict=True)
    further += [sql for one, sql in tests if not where.implies(one)]
    if where.as_of is not None:
        further.append(HELD)
    elif not where.history:
        subject.append(HOLDS_NOW)
    return subject, further


def joined(conditions: Sequence[str]) -> str:
    """To follow other conditions."""
    return "".join(f" AND {sql}" for sql in conditions)
