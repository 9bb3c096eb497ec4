"""Where a list goes on, and from when to when it is asked for: what cannot be meant is refused. The first
page instead would be taken for the one that was asked for."""

import pytest

GARBAGE = ("garbage", "2026-01-01", "2026-01-01T00:00:00_x", "0", "-1", "\u00b2")
LISTS = (
    "audit", "dead-letters", "decisions", "deliveries", "documents", "entities", "episodes", "jobs", "ledger",
    "observations", "privacy/receipts", "sessions", "webhooks",
)  # fmt: skip
BY_BEFORE = ("documents", "observations")  # whose links say `before`; the others' say `after`


@pytest.mark.parametrize("page", LISTS)
@pytest.mark.parametrize("place", GARBAGE)
def test_a_place_that_no_link_names_is_refused(admin, page, place):
    answer = admin.open(page, **{"before" if page in BY_BEFORE else "after": place})
    assert (answer.status_code, "This is no place in the list." in answer.text) == (422, True)


@pytest.mark.parametrize("place", [one for one in GARBAGE if one != "0"])
def test_nor_is_one_that_is_no_number_where_numbers_are_places(acme, admin, place):
    ingesting = acme.with_key(scopes=["ingest"]).http
    made = ingesting.post("/api/v1/documents", json={"title": "Rules", "content": "For everybody."})
    for page, name in ((f"documents/{made.json()['id']}", "after"), ("policy/history", "before")):
        answer = admin.open(page, **{name: place})
        assert (answer.status_code, "This is no place in the list." in answer.text) == (422, True), page


@pytest.mark.parametrize("page", [*(one for one in LISTS if one not in BY_BEFORE), "people"])
def test_a_place_under_the_name_that_other_lists_give_it_is_refused(admin, page):
    answer = admin.open(page, before="garbage")
    assert (answer.status_code, "This is no place in the list." in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("page", "query"),
    [("episodes", {"q": "x", "agent": "a"}), ("entities", {"q": "x", "user": "ann"}), ("ledger", {"q": "x"})],
)
def test_a_search_which_has_one_page_knows_no_other_place(admin, page, query):
    assert admin.open(page, after="garbage", **query).status_code == 422


@pytest.mark.parametrize(
    ("page", "field"),
    [
        ("episodes", "since"), ("episodes", "until"), ("episodes", "as_of"), ("entities", "as_of"),
        ("observations", "since"), ("observations", "until"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("moment", ["garbage", "2026-02-30", "0"])
def test_a_date_that_is_none_is_refused_beside_its_field(admin, page, field, moment):
    answer = admin.open(page, **{field: moment})
    assert (answer.status_code, f'id="id_{field}_error"' in answer.text) == (422, True)
