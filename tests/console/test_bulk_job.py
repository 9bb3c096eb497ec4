"""One deed on very many: stated before, done in the background, looked at and stopped on its own page."""

import re

import pytest
from playwright.sync_api import expect

from observations import bulk_jobs
from observations.bulk_jobs import read_bulk
from observations.selecting import count_selected
from observations.types import Selection
from tenants.models import Job, Role
from tenants.scope import scope
from tests.console.remembered import HOSTILE
from tests.console.senses import violations
from tests.jobs import work
from tests.observations.notes import fill, note, stored

MANY = bulk_jobs.AT_ONCE + 1


@pytest.fixture
def many(editor):
    fill(editor.caller, [f"Say {n}." for n in range(MANY)], type="bugfix")
    return editor


def asked(person, **fields):
    """Sends the question's form as the page has it; where it leads to."""
    page = person.open("observations/many", all=1, **fields).text
    hidden = {name: page.split(f'name="{name}" value="')[1].split('"')[0] for name in ("as_of", "stated")}
    answer = person.submit("observations/many", at="observations", all=1, **hidden, **fields)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def job_in(address):
    return address.split("/many/")[1].partition("?")[0]


def test_many_are_changed_in_the_background_and_one_sees_how_far_it_is(many, browse, picture):
    page = browse(many)
    page.goto(many.path("observations/many?all=1&deed=trash&type=bugfix"))
    expect(page.get_by_text("It is done in the background")).to_be_visible()
    picture(page, "observations-many-more")
    page.get_by_role("button", name=f"Move to the trash: {MANY} observations").click()
    expect(page.get_by_role("status")).to_contain_text(f"It waits for its turn: 0 of {MANY}")
    assert violations(page) == []
    picture(page, "observation-bulk-waits")
    work.run(slow=True)
    expect(page.get_by_role("status")).to_contain_text(f"It is done: {MANY} of {MANY}")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    picture(page, "observation-bulk-done")
    page.get_by_role("link", name="Back to the list").click()
    expect(page).to_have_url(re.compile(r"/observations\?type=bugfix$"))
    assert count_selected(caller=many.caller, where=Selection(), most=9) == 0


def test_it_is_stopped(many, browse, picture):
    page = browse(many)
    page.goto(many.path() + asked(many, deed="trash").split(many.tenant.slug)[1])
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("It ends after the batch that it is at.")).to_be_visible()
    work.run(slow=True)
    expect(page.get_by_role("status")).to_contain_text(f"It was stopped: 0 of {MANY}")
    picture(page, "observation-bulk-stopped")
    assert count_selected(caller=many.caller, where=Selection(), most=MANY + 1) == MANY


def test_no_more_are_changed_than_were_stated(many):
    note(many.caller, "Say other.", type="decision")
    few = many.open("observations/many", all=1, deed="tag", value="x", type="decision").text
    as_of = few.split('name="as_of" value="')[1].split('"')[0]
    assert 'name="stated" value="1"' in few
    answer = many.submit(
        "observations/many", at="observations", all=1, as_of=as_of, stated="1", deed="tag", value="x"
    )
    assert answer.status_code == 302
    assert sum(one.tags == ["x"] for one in stored(many.caller)) == 1
    for odd in ("-1", "x", "9" * 30):
        answer = many.submit("observations/many", at="observations", all=1, stated=odd, deed="trash")
        assert answer.status_code == 422


def test_hostile_words_stay_words_and_failures_are_told(many):
    address = asked(many, deed="tag", value=HOSTILE[:90], type="bugfix")
    job_id = job_in(address)
    with scope(many.caller.tenant_id):
        Job.objects.filter(id=job_id).update(state="failed", error="x", run_at="2030-01-01T00:00Z")
    shown = many.open(f"observations/many/{job_id}", type=HOSTILE).text
    assert "It has failed" in shown
    assert "<script>alert" not in shown
    assert many.submit(f"observations/many/{job_id}", at="observations").status_code == 302
    assert not read_bulk(caller=many.caller, job_id=job_id).is_stopped


def test_what_has_ended_offers_no_stop_and_says_so_to_who_asks_late(many):
    path = f"observations/many/{job_in(asked(many, deed='trash'))}"
    assert "Stop</button>" in many.open(path).text
    work.run(slow=True)
    assert "Stop</button>" not in many.open(path).text
    assert many.submit(path, at="observations").status_code == 302
    assert "It had ended already" in many.open(path).text


def test_one_that_only_has_to_be_closed_offers_no_stop(many):
    job_id = job_in(asked(many, deed="trash"))
    with scope(many.caller.tenant_id):
        Job.objects.filter(id=job_id).update(state="running", done=MANY)
    assert "Stop</button>" not in many.open(f"observations/many/{job_id}").text


def test_a_filter_that_cannot_be_meant_is_refused_there_too(many):
    path = f"observations/many/{job_in(asked(many, deed='trash'))}"
    assert many.open(path, since="garbage").status_code == 422
    assert many.submit(f"{path}?since=garbage", at="observations").status_code == 422


def test_a_viewer_does_not_see_it(many, person):
    job_id = job_in(asked(many, deed="trash"))
    assert person(Role.VIEWER).open(f"observations/many/{job_id}").status_code == 403
    assert person(Role.EDITOR).open(f"observations/many/{job_id}").status_code == 200
    assert "The job" in person(Role.ADMIN).open(f"observations/many/{job_id}").text
