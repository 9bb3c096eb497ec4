import re

import pytest

FACTS = {
    "Pool size": "The REST pool holds 12 connections.",
    "WAL mode": "SQLite uses a write-ahead log.",
    "Retries": "The REST client retries twice.",
}


@pytest.fixture
def filled(acme, web):
    for title, content in FACTS.items():
        web.call(acme, "mem_save", {"type": "config", "title": title, "content": content})
    return acme


def test_the_answer_is_a_numbered_list_with_ranks(filled, door):
    text, failed = door.call(filled, "mem_search", {"query": "REST"})
    assert not failed
    assert re.fullmatch(
        r"Found 2 memories:\n\n"
        r"1\. \[config\] [\w ]+ \(rank: -\d+\.\d\)\n   The REST .+\n\n"
        r"2\. \[config\] [\w ]+ \(rank: -\d+\.\d\)\n   The REST .+\n\n",
        text,
    )


def test_a_question_finds_the_memory_that_answers_it(filled, either):
    text, _ = either.call(filled, "mem_search", {"query": "how do I set the pool size for REST?"})
    assert "1. [config] Pool size" in text


def test_nothing_found_is_said(filled, door):
    assert door.call(filled, "mem_search", {"query": "ü/ß-nowhere"}, project="empty") == (
        "No memories found matching the query.",
        False,
    )


@pytest.mark.parametrize(
    ("limit", "found"), [(1, 1), (2, 2), (2.0, 2), (0, 2), (-3, 2), (10**30, 2), (None, 2)]
)
def test_the_limit_holds(filled, web, limit, found):
    text, failed = web.call(filled, "mem_search", {"query": "REST", "limit": limit})
    assert not failed
    assert text.startswith(f"Found {found} memories:")


def test_an_error_of_a_tool_is_a_result(acme, door):
    assert door.call(acme, "mem_search") == ("query is required", True)
    assert door.call(acme, "mem_save", {"title": "T"}) == ("title and content are required", True)


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": " \t"}, {"query": None}])
def test_a_query_is_required(acme, web, arguments):
    assert web.call(acme, "mem_search", arguments) == ("query is required", True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query": 5}, "query must be a string"),
        ({"query": "a", "limit": "5"}, "limit must be an integer"),
        ({"query": "a", "limit": 1.5}, "limit must be an integer"),
        ({"query": "a", "limit": True}, "limit must be an integer"),
    ],
)
def test_wrong_arguments_are_told_to_the_model(acme, web, arguments, told):
    assert web.call(acme, "mem_search", arguments) == (told, True)


def test_globex_cannot_read_acme_s(filled, globex, either):
    assert either.call(globex, "mem_search", {"query": "REST"})[0] == "No memories found matching the query."
    assert either.call(globex, "mem_context")[0] == "No recent memory context available."


def test_a_key_bound_to_a_user_sees_its_own_only(filled, web):
    ana = filled.with_key(user_id="ana")
    assert web.call(ana, "mem_search", {"query": "REST"})[0] == "No memories found matching the query."
    web.call(ana, "mem_save", {"type": "preference", "title": "Mail", "content": "Ana wants REST by mail."})
    assert web.call(ana, "mem_search", {"query": "REST"})[0].startswith("Found 1 memories:")
    bob = filled.with_key(user_id="bob")
    assert web.call(bob, "mem_search", {"query": "REST"})[0] == "No memories found matching the query."


def test_nul_in_a_query_is_passed_over(acme, web):
    assert web.call(acme, "mem_search", {"query": "a\x00"}) == (
        "No memories found matching the query.",
        False,
    )
