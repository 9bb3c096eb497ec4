"""`POST /api/v1/documents/search`."""

import pytest

from tests.knowledge.pdfs import pdf
from tests.knowledge.shelf import FILLER, embed
from tests.native.shapes import problem

PATH = "/api/v1/documents"


@pytest.fixture
def filled(acme):
    acme = acme.with_key(scopes=("read", "ingest"))
    text = (
        f"# Policy\n\n{FILLER * 8}\n\n## Refunds\n\nMoney is given back within fourteen days.\n\n{FILLER * 8}"
    )
    acme.http.post(
        PATH, json={"title": "Shop", "content": text, "source": "kb/shop", "media_type": "text/markdown"}
    )
    acme.http.post(
        PATH, files={"file": ("a.pdf", pdf(["First.", "Parcels leave at nine."]), "application/pdf")}
    )
    embed(acme.caller)
    return acme


def search(member, query="money back", **more):
    return member.http.post(f"{PATH}/search", json={"query": query, **more})


def test_a_hit_tells_where_it_stands(filled):
    (hit, *_rest) = search(filled).json()["results"]
    (document,) = filled.http.get(PATH, params={"source": "kb/shop"}).json()["results"]
    assert hit.pop("text").startswith("## Refunds\n\nMoney is given back")
    assert 0 < hit.pop("score") <= 1
    assert hit.pop("signals").keys() == {"bm25", "cosine"}
    assert hit.pop("id")
    assert hit == {
        "document_id": document["id"],
        "title": "Shop",
        "source": "kb/shop",
        "position": 1,
        "heading": "Policy > Refunds",
        "page": None,
    }


def test_a_hit_in_a_pdf_tells_the_page_that_its_passage_stands_on(filled):
    (hit, *_rest) = search(filled, "parcels").json()["results"]
    assert (hit["page"], hit["heading"], hit["source"], hit["title"]) == (2, None, None, "a")


def test_filters_and_top_k_narrow_it(filled):
    assert len(search(filled, "money parcels tickets", top_k=1).json()["results"]) == 1
    found = search(filled, "money parcels", filters={"title": "a"}).json()["results"]
    assert [hit["title"] for hit in found] == ["a"]
    assert search(filled, filters={"metadata": {"a": 1}}).json()["results"] == []
    assert search(filled, filters={"project": "apollo"}).json()["results"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"query": ""}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"query": 5}, "query"),
        ({"top_k": 0}, "top_k"),
        ({"top_k": 101}, "top_k"),
        ({"filters": {"colour": "red"}}, "filters.colour"),
        ({"filters": {"metadata": "x"}}, "filters.metadata"),
        ({"filters": []}, "filters"),
    ],
)
def test_what_is_wrong_is_named(acme, body, named):
    problem(search(acme, **body), 422, named)


def test_a_bound_key_cannot_ask_for_another_s(acme):
    problem(search(acme.with_key(project="apollo"), filters={"project": "zeus"}), 403)
    problem(search(acme.with_key(user_id="ann"), user_id="bob"), 403)
    assert search(acme.with_key(user_id="ann"), user_id="ann").status_code == 200


def test_globex_finds_nothing_of_acme_s(filled, globex):
    assert search(globex).json()["results"] == []
