"""What a key reaches: never another tenant's, and within its own what it is bound to."""

import pytest
from django.utils import timezone

from observations.observations import access_observation
from tenants.agents.agents import put_agent
from tenants.caller import Caller
from tenants.errors import Forbidden, NotFound
from tests.observations.notes import (
    delete,
    edit,
    embed,
    listed,
    note,
    restore,
    revisions,
    row_of,
    search,
    timeline,
)  # fmt: skip


def seen(caller):
    """What every read tells of words that all observations share."""
    by_list = {row.content for row in listed(caller)}
    for mode in (None, "all", "any", "hybrid"):
        assert {hit.observation.content for hit in search(caller, "note", project=None, mode=mode)} == by_list
    assert {hit.observation.content for hit in search(caller, "topic/of", project=None)} <= by_list
    return {content.removesuffix(" note") for content in by_list}


def cannot_touch(caller, observation_id):
    """Every verb that names it answers as if there were none."""
    for verb in (
        lambda: access_observation(caller=caller, observation_id=observation_id),
        lambda: edit(caller, observation_id, content="changed"),
        lambda: revisions(caller, observation_id),
        lambda: timeline(caller, observation_id),
        lambda: restore(caller, observation_id),
    ):
        with pytest.raises(NotFound, match=r"^observation not found$"):
            verb()
    for hard in (False, True):
        assert not delete(caller, observation_id, hard=hard).found


def test_globex_reaches_nothing_of_acme(acme, globex):
    mine = note(acme.caller, "acme note", scope="global", topic_key="topic/of/acme", user_id="ann")
    note(globex.caller, "globex note", topic_key="topic/of/globex")
    embed(acme.caller)
    embed(globex.caller)
    assert seen(globex.caller) == {"globex"}
    assert seen(acme.caller) == {"acme"}
    cannot_touch(globex.caller, mine.observation.id)
    row = row_of(acme.caller, mine.observation.id)
    assert (row.content, row.deleted_at) == ("acme note", None)


def test_a_key_bound_to_a_user_reaches_that_users_only(acme):
    ids = {
        name: note(
            acme.caller, f"{name} note", user_id=name, scope=scope, topic_key=f"topic/of/{name}",
            project="billing", session_id=f"of {name}",
        ).observation.id
        for name, scope in (("ann", "project"), ("bob", "project"), ("eve", "global"), ("", "global"))
    }  # fmt: skip
    embed(acme.caller)
    bound = acme.with_key(user_id="ann").caller
    assert seen(bound) == {"ann"}
    for name in ("bob", "eve", ""):
        cannot_touch(bound, ids[name])
    assert edit(bound, ids["ann"], title="Mine").title == "Mine"
    with pytest.raises(Forbidden):
        listed(bound, user_id="bob")
    with pytest.raises(Forbidden):
        search(bound, "note", user_id="bob")


def test_a_key_bound_to_a_project_reaches_that_one_and_the_global_ones(acme):
    ids = {
        name: note(acme.caller, f"{name} note", project=project, scope=scope).observation.id
        for name, project, scope in (
            ("own", "orders", "project"),
            ("other", "billing", "project"),
            ("shared", "billing", "global"),
        )
    }
    embed(acme.caller)
    bound = acme.with_key(project="Orders").caller
    assert seen(bound) == {"own", "shared"}
    cannot_touch(bound, ids["other"])
    assert access_observation(caller=bound, observation_id=ids["shared"]).content == "shared note"
    for verb in (listed, lambda caller, **where: search(caller, "note", **where)):
        with pytest.raises(Forbidden):
            verb(bound, project="billing")


def test_a_key_bound_to_an_agent_reaches_its_agents_project(acme):
    admin = Caller(acme.tenant.id, acme.tenant.slug, "k", frozenset({"admin"}))
    put_agent(caller=admin, name="ada", document={"memory": {"project": "Apollo"}}, now=timezone.now())
    own = note(acme.caller, "own note", project="apollo").observation.id
    other = note(acme.caller, "other note", project="ada").observation.id
    embed(acme.caller)
    bound = acme.with_key(agent_id="ada").caller
    assert seen(bound) == {"own"}
    cannot_touch(bound, other)
    assert delete(bound, own).found


def test_a_key_bound_to_an_agent_that_nobody_declared_reaches_the_project_of_its_name(acme):
    note(acme.caller, "own note", project="bob")
    note(acme.caller, "other note", project="orders")
    embed(acme.caller)
    assert seen(acme.with_key(agent_id="Bob").caller) == {"own"}
