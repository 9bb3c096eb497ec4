"""The native routes: subjects, receipts and downloads."""

from urllib.parse import quote

import httpx
import pytest

from tenants.models import Job
from tenants.scope import scope
from tests.api.things import dead_letter
from tests.native.shapes import problem
from tests.privacy import people

ODD = [
    "ann",
    "ann/x",
    "export",
    "a/export",
    "a/erase/receipts",
    "receipts",
    "/",
    "ann/",
    "%",
    "%2F",
    "é 💡",
    "..",
    "{a}",
]


def path(user, verb):
    return f"/api/v1/subjects/{quote(user, safe='').replace('.', '%2E')}/{verb}"


@pytest.fixture
def officer(acme):
    return acme.with_key(scopes=("privacy",))


def done(member, answer):
    """The job behind an answer, when it is done."""
    assert answer.status_code == 202, answer.text
    begun = answer.json()
    assert answer.headers["location"] == f"/api/v1/jobs/{begun['id']}"
    assert begun.keys() >= {"id", "kind", "state", "done", "total", "result", "error"}
    assert begun["state"] == "queued"
    people.run_jobs()
    with scope(member.tenant.id):
        return Job.objects.get(id=begun["id"])


@pytest.mark.parametrize("user", ODD)
def test_any_text_is_a_person(acme, officer, user):
    people.live(acme, user)
    job = done(acme, officer.http.post(path(user, "export")))
    file = officer.http.get(f"/api/v1/jobs/{job.id}/download")
    assert people.lines(file.content)[0]["user_id"] == user
    assert "sesame turn" in str(people.lines(file.content))
    assert done(acme, officer.http.post(path(user, "erase"), json={})).state == "done"
    assert not any(people.belongings(acme.tenant.id, user).values())
    (receipt,) = officer.http.get(path(user, "receipts")).json()["results"]
    assert (receipt["residue"], receipt["erased"]["episode"]) == ({}, 4)
    assert officer.http.get(f"/api/v1/jobs/{job.id}/download").status_code == 404  # the export went with them
    assert officer.http.get(path(user + "x", "receipts")).json() == {"results": [], "next": None}


def test_a_download_is_a_file(acme, officer):
    people.live(acme, "ann")
    begun = officer.http.post(path("ann", "export"))
    early = officer.http.get(f"{begun.headers['location']}/download")
    problem(early, 409)
    job = done(acme, begun)
    answer = officer.http.get(f"/api/v1/jobs/{job.id}/download")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == f'attachment; filename="export-{job.id}.zip"'
    assert int(answer.headers["content-length"]) == len(answer.content) == job.result["bytes"]
    assert "content-encoding" not in answer.headers
    assert (answer.headers["cache-control"], answer.headers["x-content-type-options"]) == (
        "no-store",
        "nosniff",
    )
    erasure = done(acme, officer.http.post(path("bob", "erase")))
    problem(officer.http.get(f"/api/v1/jobs/{erasure.id}/download"), 404)
    problem(officer.http.get("/api/v1/jobs/x/download"), 404)


def test_globex_reaches_nothing_of_acme(acme, globex, officer):
    people.live(acme, "ann")
    job = done(acme, officer.http.post(path("ann", "export")))
    stranger = globex.with_key(scopes=("privacy", "admin"))
    problem(stranger.http.get(f"/api/v1/jobs/{job.id}/download"), 404)
    before = people.belongings(acme.tenant.id, "ann")
    done(globex, stranger.http.post(path("ann", "erase")))
    assert people.belongings(acme.tenant.id, "ann") == before
    assert officer.http.get(path("ann", "receipts")).json()["results"] == []


def test_a_bound_key_acts_on_its_own_person_only(acme):
    anns = acme.with_key(user_id="ann", scopes=("privacy",))
    for verb in ("export", "erase"):
        problem(anns.http.post(path("bob", verb)), 403)
    problem(anns.http.get(path("bob", "receipts")), 403)
    assert anns.http.get(path("ann", "receipts")).json() == {"results": [], "next": None}
    job = done(acme, anns.http.post(path("ann", "export")))
    assert anns.http.get(f"/api/v1/jobs/{job.id}/download").status_code == 200
    bobs = acme.with_key(user_id="bob", scopes=("privacy",))
    problem(bobs.http.get(f"/api/v1/jobs/{job.id}/download"), 404)
    begun = anns.http.post(path("ann", "erase"))
    problem(bobs.http.get(begun.headers["location"]), 404)
    readers = acme.with_key(user_id="ann", scopes=("privacy", "read"))
    problem(readers.http.get(begun.headers["location"]), 404)  # another key of hers has asked for it
    assert done(acme, begun).state == "done"


def test_with_scope_privacy_alone_one_follows_exports_and_erasures(acme, officer):
    begun = [officer.http.post(path("ann", verb)) for verb in ("export", "erase")]
    begun += [officer.http.post(path("bob", "export"))]
    people.run_jobs()
    people.run_jobs()
    problem(officer.http.get(begun[0].headers["location"]), 404)  # it went with her
    erasure, export = (officer.http.get(one.headers["location"]).json() for one in begun[1:])
    assert (erasure["state"], export["state"]) == ("done", "done")
    assert httpx.get(export["result"]["download_url"]).status_code == 200
    problem(officer.http.get(f"/api/v1/jobs/{dead_letter(officer)}"), 404)
    problem(officer.http.get("/api/v1/jobs"), 403)
    problem(acme.with_key(scopes=("write",)).http.get(begun[1].headers["location"]), 403)


def test_a_key_of_an_agent_or_project_is_refused(acme):
    for bindings in ({"agent_id": "coder"}, {"project": "apollo"}):
        bound = acme.with_key(scopes=("privacy",), **bindings)
        for verb in ("export", "erase"):
            problem(bound.http.post(path("ann", verb)), 403)


@pytest.mark.parametrize("verb", ["export", "erase"])
def test_bad_requests_begin_nothing(acme, officer, verb):
    problem(officer.http.post(path("ann", verb), json={"x": 1}), 422, "x")
    problem(officer.http.post(path("ann", verb), json=[]), 422)
    problem(officer.http.post(path("a" * 256, verb)), 422, "user_id")
    problem(officer.http.post(path("a\0b", verb)), 422, "user_id")
    problem(officer.http.post(f"/api/v1/subjects/%FF/{verb}"), 422)
    problem(acme.http.post(path("ann", verb)), 403)
    with scope(acme.tenant.id):
        assert not Job.objects.exists()


def test_a_request_sent_again_is_one(acme, officer):
    headers = {"Idempotency-Key": "once"}
    for verb in ("export", "erase"):
        first, second = (
            officer.http.post(path("ann", verb), headers=headers | {"Idempotency-Key": verb}) for _n in "12"
        )
        assert first.json() == second.json()
        assert second.headers["location"] == first.headers["location"]
        people.run_jobs()
    assert len(officer.http.get(path("ann", "receipts")).json()["results"]) == 1


def test_receipts_come_page_by_page_newest_first(acme, officer):
    for _n in range(3):
        done(acme, officer.http.post(path("ann", "erase")))
    url, seen = path("ann", "receipts"), []
    cursor = ""
    while cursor is not None:
        page = officer.http.get(url, params={"limit": 2, "cursor": cursor}).json()
        seen += [one["erased_at"] for one in page["results"]]
        cursor = page["next"]
    assert seen == sorted(seen, reverse=True)
    assert len(set(seen)) == 3


def test_two_who_ask_for_the_same_can_each_follow_it(acme):
    officer = acme.with_key(scopes=("read", "privacy"))
    ann = acme.with_key(scopes=("read", "privacy"), user_id="ann")
    for what in ("export", "erase"):
        for member in (officer, ann):
            answer = member.http.post(f"/api/v1/subjects/ann/{what}")
            assert answer.status_code == 202
            assert member.http.get(answer.headers["Location"]).status_code == 200


def test_what_is_asked_for_after_an_erasure_is_not_lost_with_what_was_before(acme):
    officer = acme.with_key(scopes=("read", "privacy"))
    before = officer.http.post("/api/v1/subjects/ann/export").json()
    officer.http.post("/api/v1/subjects/ann/erase")
    after = officer.http.post("/api/v1/subjects/ann/export").json()
    assert after["id"] != before["id"]
    people.run_jobs()
    people.run_jobs()
    assert officer.http.get(f"/api/v1/jobs/{after['id']}").json()["state"] in {"done", "queued"}
    assert officer.http.get(f"/api/v1/jobs/{before['id']}").status_code == 404
