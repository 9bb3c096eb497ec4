"""The first page: what it shows of a month, and that it follows what happens."""

from django.utils import timezone
from playwright.sync_api import expect

from episodic.models import Episode
from tenants.models import Role
from tenants.scope import scope
from tests.console.overviewed import live_a_month


def written(tenant_id, count):
    """Written by another process than the server's."""
    now = timezone.now()
    with scope(tenant_id):
        Episode.objects.bulk_create(
            Episode(tenant_id=tenant_id, text="news", created_at=now, embed_pending=True)
            for _ in range(count)
        )


def figure(page, name):
    return page.locator(f".stats div:has(dt:text-is('{name}')) dd")


def test_a_month_is_seen_in_one_look(admin, browse, picture):
    live_a_month(admin.tenant.id)
    page = browse(admin)
    page.goto(admin.path())
    expect(page.locator("#memories-chart rect.of-episode")).to_have_count(30)
    expect(page.locator("#memories-chart rect.of-observation").nth(10)).to_be_attached()
    expect(page.locator("#latency-chart circle")).to_have_count(2 * 47)
    expect(page.locator("#helpful-chart circle").nth(14)).to_be_attached()
    expect(figure(page, "Dead letters")).to_have_text("1")
    expect(figure(page, "Waiting for you")).to_have_text("1")
    expect(page.locator("main")).to_contain_text("1,204 calls, $0.0048", use_inner_text=True)
    expect(page.locator("#overview-writes li")).to_have_count(5)  # written, and four reasons
    picture(page, "overview-month")
    page.set_viewport_size({"width": 360, "height": 740})
    picture(page, "overview-month-360")


def test_the_figures_of_a_chart_can_be_read_as_a_table(admin, browse):
    live_a_month(admin.tenant.id)
    page = browse(admin)
    page.goto(admin.path())
    page.get_by_text("As a table").first.click()
    newest = page.locator("#memories-table tbody tr").first
    expect(newest).to_be_visible()
    expect(newest.locator("td").first).to_have_text("1")


def test_what_happens_meanwhile_is_seen_and_open_tables_stay_open(admin, browse):
    page = browse(admin)
    page.goto(admin.path())
    expect(figure(page, "Memories written")).to_have_text("0")
    page.get_by_text("As a table").first.click()
    written(admin.tenant.id, 3)
    page.evaluate(
        "htmx.ajax('GET', document.querySelector('[hx-get]').getAttribute('hx-get'), {swap: 'none'})"
    )
    expect(figure(page, "Memories written")).to_have_text("3")
    expect(page.locator("#memories-table tbody td").first).to_have_text("3")
    expect(page.locator("#memories-table")).to_be_visible()


def test_the_updates_can_be_paused(admin, browse):
    page = browse(admin)
    page.goto(admin.path())
    page.get_by_role("link", name="Pause updates").click()
    expect(page.get_by_role("link", name="Resume updates")).to_be_visible()
    page.wait_for_load_state()
    expect(page.locator("[hx-get]")).to_have_count(0)


def test_whoever_may_not_operate_gets_no_link_to_the_dead_letters(person):
    viewer = person(Role.VIEWER)
    live_a_month(viewer.tenant.id)
    assert "/dead-letters" not in viewer.open().text
