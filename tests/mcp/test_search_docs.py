"""`search_docs`: passages of documents, over every transport, within the key's reach."""

import pytest

from tests.knowledge.shelf import ingest

NOTHING = "No documents found matching the query."


@pytest.fixture
def filled(acme):
    text = "# Shop\n\n## Refunds\n\nMoney is given back within fourteen days."
    ingest(acme.caller, text, title="Handbook", source="kb/handbook.md")
    ingest(acme.caller, "Apollo flies at nine o'clock.", title="Apollo", project="apollo")
    ingest(acme.caller, "Ann likes refunds.", title="Ann's", user_id="ann")
    return acme


def test_the_answer_has_title_heading_and_source_of_each_passage(filled, door):
    bob = filled.with_key(user_id="bob")
    text, failed = door.call(bob, "search_docs", {"query": "refunds"})
    assert not failed
    assert text == (
        "Found 1 passages:\n\n"
        "1. Handbook | Shop > Refunds\n"
        "   Source: kb/handbook.md\n"
        "# Shop\n\n## Refunds\n\nMoney is given back within fourteen days.\n\n"
    )


def test_a_project_s_documents_are_searched_beside_everybody_s(filled, web):
    assert web.call(filled, "search_docs", {"query": "nine"})[0] == NOTHING
    assert "1. Apollo\n" in web.call(filled, "search_docs", {"query": "nine"}, project="apollo")[0]
    assert "1. Apollo\n" in web.call(filled.with_key(project="apollo"), "search_docs", {"query": "nine"})[0]


def test_a_key_bound_to_a_user_finds_theirs_and_nobody_s(filled, web):
    ann, bob = (filled.with_key(user_id=user) for user in ("ann", "bob"))
    assert "Ann's" in web.call(ann, "search_docs", {"query": "refunds"})[0]
    assert "Ann's" not in web.call(bob, "search_docs", {"query": "refunds"})[0]


def test_the_number_of_passages_holds(filled, web):
    text, _ = web.call(filled, "search_docs", {"query": "refunds", "top_k": 1})
    assert text.startswith("Found 1 passages:")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "query is required"),
        ({"query": " "}, "query is required"),
        ({"query": 5}, "query must be a string"),
        ({"query": "a", "top_k": "5"}, "top_k must be an integer"),
    ],
)
def test_wrong_arguments_are_told_to_the_model(acme, web, arguments, told):
    assert web.call(acme, "search_docs", arguments) == (told, True)


def test_globex_finds_nothing_and_memories_are_not_searched(filled, globex, web):
    assert web.call(globex, "search_docs", {"query": "refunds"})[0] == NOTHING
    web.call(globex, "mem_save", {"type": "config", "title": "Refunds", "content": "Refunds are slow."})
    assert web.call(globex, "search_docs", {"query": "refunds"})[0] == NOTHING
    assert "Handbook" not in web.call(filled, "mem_search", {"query": "refunds"})[0]
