import pytest

from tests.mcp.doors import kept
from tests.plugin import HOME

FACT = {"type": "config", "title": "Pool size", "content": "The REST pool holds 12 connections."}


def test_a_saved_memory_is_found_by_every_way(acme, door):
    assert door.call(acme, "mem_save", FACT | {"tags": ["rest"]}) == ("Saved [config] Pool size", False)
    text, failed = door.call(acme, "mem_search", {"query": "pool"})
    assert not failed
    assert "1. [config] Pool size (rank: " in text
    (found,) = kept(acme)
    assert (found.type, found.title, found.content) == tuple(FACT.values())
    assert (found.tags, found.project, found.session) == (["rest"], "default", "mcp-default")


def test_it_belongs_to_the_project_and_session_that_the_connection_names(acme, either):
    either.call(acme, "mem_save", FACT, project="Billing", session="s-7")
    (found,) = kept(acme, "billing")
    assert (found.project, found.session) == ("billing", "s-7")
    assert either.call(acme, "mem_search", {"query": "pool"})[0].startswith("No memories")
    assert either.call(acme, "mem_search", {"query": "pool"}, project="BILLING")[0].startswith("Found 1 ")


def test_it_belongs_to_the_project_of_the_key(acme, web):
    bound = acme.with_key(project="billing")
    web.call(bound, "mem_save", FACT)
    assert len(kept(acme, "billing")) == 1


def test_it_belongs_to_the_project_of_the_key_s_agent(acme, web):
    web.call(acme.with_key(agent_id="Coder"), "mem_save", FACT)
    assert len(kept(acme, "coder")) == 1


def test_keys_that_are_bound_to_others_do_not_meet_in_one_session(acme, web):
    """A session belongs to one user, agent and project; what one key saves must not be another's."""
    bindings = [{"user_id": "ana"}, {"user_id": "bob"}, {"agent_id": "x", "project": "default"}, {}]
    bindings += [{"agent_id": "y", "project": "default"}, {"project": "Default"}, {"project": "default"}]
    for number, binding in enumerate(bindings):
        given = FACT | {"content": f"Fact {number}."}
        assert web.call(acme.with_key(**binding), "mem_save", given)[1] is False
    found = {one.content: one for one in kept(acme)}
    owners = [(found[f"Fact {number}."].user_id, found[f"Fact {number}."].agent_id) for number in range(7)]
    assert owners == [("ana", ""), ("bob", ""), ("", "x"), ("", ""), ("", "y"), ("", ""), ("", "")]
    assert found["Fact 3."].session == "mcp-default"


@pytest.mark.parametrize("kind", [{}, {"type": ""}, {"type": " "}, {"type": None}])
def test_without_a_type_it_is_a_discovery(acme, web, kind):
    given = {"title": "T", "content": "C"} | kind
    assert web.call(acme, "mem_save", given) == ("Saved [discovery] T", False)


def test_any_type_is_taken(acme, web):
    assert web.call(acme, "mem_save", FACT | {"type": "audit"}) == ("Saved [audit] Pool size", False)


def test_saving_again_is_no_error_and_no_second_memory(acme, web):
    for _ in range(2):
        assert web.call(acme, "mem_save", FACT) == ("Saved [config] Pool size", False)
    (found,) = kept(acme)
    assert found.duplicate_count == 2


@pytest.mark.parametrize(
    "lacking", [{"title": ""}, {"content": ""}, {"title": " \n"}, {"content": None}, {"title": None}]
)
def test_title_and_content_are_required(acme, web, lacking):
    assert web.call(acme, "mem_save", FACT | lacking) == ("title and content are required", True)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"title": 5}, "title must be a string"),
        ({"content": ["a"]}, "content must be a string"),
        ({"type": {}}, "type must be a string"),
        ({"tags": "a"}, "tags must be an array of strings"),
        ({"tags": [1]}, "tags must be an array of strings"),
        ({"title": "x" * 501}, "failed to save memory: validation failed: title exceeds 500 chars"),
        ({"tags": ["t"] * 21}, "failed to save memory: validation failed: tags exceed 20 items"),
        ({"type": "a\x00b"}, "type: Text may not contain NUL characters."),
    ],
)
def test_wrong_arguments_are_told_to_the_model(acme, web, wrong, told):
    assert web.call(acme, "mem_save", FACT | wrong) == (told, True)
    assert kept(acme) == []


def test_nul_in_what_is_said_becomes_the_replacement_character(acme, web):
    given = FACT | {"title": "a\x00", "content": "b\x00", "tags": ["c\x00"]}
    assert web.call(acme, "mem_save", given) == ("Saved [config] a\ufffd", False)
    (found,) = kept(acme)
    assert (found.title, found.content, found.tags) == ("a\ufffd", "b\ufffd", ["c\ufffd"])


def test_unknown_arguments_are_ignored(acme, web):
    assert web.call(acme, "mem_save", FACT | {"more": 1}) == ("Saved [config] Pool size", False)


def test_what_is_saved_is_not_in_the_log(acme, web):
    web.call(acme, "mem_save", FACT | {"content": "The password of the vault is xyzzy-4711."})
    assert "xyzzy" not in (HOME / "web.log").read_text()
