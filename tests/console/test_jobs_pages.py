"""Jobs and dead letters: seen, replayed, dropped."""

from uuid import uuid4

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from tenants.models import AuditEntry, Job, Role
from tenants.scope import scope
from tests.console.injected import job
from tests.console.remembered import HOSTILE
from tests.console.senses import expect_harmless


def states(admin):
    with scope(admin.tenant.id):
        return sorted(Job.objects.filter(tenant_id=admin.tenant.id).values_list("state", flat=True))


def audited(admin, action):
    with scope(admin.tenant.id):
        return AuditEntry.objects.filter(tenant_id=admin.tenant.id, action=action).count()


def later(admin, **named):
    """A job that no worker takes while the test looks."""
    return job(admin.tenant.id, kind=f"test.{uuid4().hex[:6]}", **named)


def test_dead_letters_are_ticked_and_replayed_after_a_look_at_what_that_means(admin, browse, picture):
    for number in range(3):
        later(admin, finished_at=timezone.now(), payload={"n": number}, done=0)
    page = browse(admin)
    page.goto(admin.path("dead-letters"))
    picture(page, "dead-letters-list")
    page.locator("input[name=job]").first.check()
    page.get_by_role("button", name="Replay ticked").click()
    expect(page.locator("h1")).to_have_text("Replay 1 dead letter?")
    picture(page, "dead-letters-sure")
    page.get_by_role("button", name="Replay 1").click()
    expect(page.locator("#messages")).to_contain_text("Back in the queue: 1.")
    assert states(admin) == ["failed", "failed", "queued"]
    assert audited(admin, "job.replay") == 1


def test_all_of_them_are_replayed(admin):
    later(admin), later(admin)
    assert "Replay 2 dead letters?" in admin.open("dead-letters/replay", which="all").text
    answer = admin.submit("dead-letters/replay", at="", which="all")
    assert answer.status_code == 302
    assert states(admin) == ["queued", "queued"]


def test_one_is_dropped_for_good_by_whoever_is_sure(admin):
    gone, stays = later(admin), later(admin)
    assert "cannot be undone" in admin.open("dead-letters/drop", job=str(gone.id)).text
    assert admin.submit("dead-letters/drop", at="", job=str(gone.id)).status_code == 422
    assert admin.submit("dead-letters/drop", at="", job=str(gone.id), sure="yes").status_code == 302
    with scope(admin.tenant.id):
        left = Job.objects.filter(tenant_id=admin.tenant.id).values_list("id", flat=True)
        assert list(left) == [stays.id]
    assert audited(admin, "job.drop") == 1


def test_an_erasure_is_not_dropped(admin):
    erasure = job(admin.tenant.id, kind="subject.erase")
    answer = admin.submit("dead-letters/drop", at="", job=str(erasure.id), sure="yes")
    assert answer.status_code == 409
    assert states(admin) == ["failed"]


@pytest.mark.parametrize("query", ["job=x", "which=some", "after=x"])
def test_what_is_no_id_is_refused(admin, query):
    page = "dead-letters" if "after" in query else "dead-letters/replay"
    assert admin.http.get(f"{admin.path(page)}?{query}").status_code in {302, 422}


def test_a_jobs_page_shows_how_far_it_is_and_what_went_wrong(admin, browse, picture):
    running = later(admin, state="running", done=40, total=160, attempts=1, error="")
    failed = later(admin, payload={"about": HOSTILE}, error=HOSTILE)
    page = browse(admin)
    page.goto(admin.path("jobs"))
    expect(page.locator("#jobs-queue progress")).to_have_attribute("value", "40")
    picture(page, "jobs-list")
    page.goto(admin.path(f"jobs/{failed.id}"))
    expect(page.locator("pre.json")).to_contain_text("<script>alert(1)</script>", use_inner_text=True)
    expect_harmless(page)
    picture(page, "job-failed")
    page.get_by_role("button", name="Replay this one").click()
    expect(page.locator(".page-head .badge").first).to_have_text("queued")
    assert admin.open(f"jobs/{running.id}").text.count("40 of 160") == 1


def test_what_runs_moves_on_without_being_asked(admin, browse):
    running = later(admin, state="running", done=1, total=9, attempts=1, error="")
    page = browse(admin)
    page.clock.install()
    page.goto(admin.path(f"jobs/{running.id}"))
    with scope(admin.tenant.id):
        Job.objects.filter(tenant_id=admin.tenant.id, id=running.id).update(done=5)
    page.clock.run_for(5_000)
    expect(page.locator("progress")).to_have_attribute("value", "5")


def test_what_happens_meanwhile_is_seen_unless_it_is_paused(admin, browse):
    page = browse(admin)
    page.clock.install()
    page.goto(admin.path("jobs"))
    expect(page.locator("#jobs-queue progress")).to_have_count(0)
    later(admin, state="running", done=7, total=9, attempts=1, error="")
    page.clock.run_for(5_000)
    expect(page.locator("#jobs-queue progress")).to_have_attribute("value", "7")
    page.get_by_role("link", name="Pause updates").click()
    expect(page.get_by_role("link", name="Resume updates")).to_be_visible()
    page.wait_for_load_state()
    expect(page.locator("[hx-trigger^=every]")).to_have_count(0)


def test_jobs_are_filtered_by_state_and_kind(admin):
    kept, other = later(admin, state="done"), later(admin)
    shown = admin.open("jobs", state="done").text
    assert str(kept.id) in shown
    assert str(other.id) not in shown
    assert str(other.id) in admin.open("jobs", kind=other.kind).text
    assert admin.open("jobs", state="lost").status_code == 422


def test_jobs_go_on_without_end(admin):
    made = [later(admin) for _ in range(53)]
    first = admin.open("jobs").text
    rest = admin.open("jobs", after=str(made[3].id)).text
    assert first.count("attempt 12 of 12") == 50
    assert f"after={made[3].id}" in first
    assert rest.count("attempt 12 of 12") == 3


def test_an_editor_sees_no_jobs(person):
    assert person(Role.EDITOR).open("jobs").status_code == 403
