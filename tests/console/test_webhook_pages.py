"""Webhooks and their deliveries: made, changed, tried, replayed, deleted."""

import re

import pytest
from playwright.sync_api import expect

from tenants.models import AuditEntry, Role
from tenants.scope import scope
from tests.console.injected import HOOK, delivered, webhook
from tests.console.remembered import HOSTILE
from tests.console.senses import expect_harmless
from webhooks.models import Delivery, Webhook


def hooks(admin):
    with scope(admin.tenant.id):
        return list(Webhook.objects.filter(tenant_id=admin.tenant.id))


def audited(admin, action):
    with scope(admin.tenant.id):
        return AuditEntry.objects.filter(tenant_id=admin.tenant.id, action=action).count()


def test_a_webhook_is_made_its_secret_shown_and_a_test_sent(admin, browse, picture):
    page = browse(admin)
    page.goto(admin.path("webhooks"))
    page.get_by_role("link", name="New webhook").click()
    page.get_by_label("URL").fill(HOOK)
    page.get_by_label("memory.retracted").uncheck()
    picture(page, "webhook-form")
    page.get_by_role("button", name="Save").click()
    show = page.get_by_role("button", name="Show")
    expect(show).to_be_visible()
    picture(page, "webhook-made")
    show.click()
    expect(page.locator("#secret")).to_have_text(re.compile(r"^\s*whsec_\S+\s*$"))
    picture(page, "webhook-secret")
    page.get_by_role("link", name="Done").click()
    page.get_by_role("button", name="Send a test").click()
    expect(page.locator("h1")).to_have_text("webhook.test")
    picture(page, "delivery-pending")
    (made,) = hooks(admin)
    assert "memory.retracted" not in made.events
    assert audited(admin, "webhook.secret") == 1


def test_what_cannot_be_reached_is_said_beside_the_field(admin):
    events = {"events": ["memory.created"]}
    answer = admin.submit("webhooks/new", url="https://127.0.0.1/x", **events)
    assert answer.status_code == 422
    assert "private or reserved network" in answer.text
    assert 'value="https://127.0.0.1/x"' in answer.text
    assert admin.submit("webhooks/new", url=HOOK).status_code == 422  # no event
    assert hooks(admin) == []


def test_one_is_changed_and_switched_off_and_on(admin):
    one = webhook(admin.caller)
    path = f"webhooks/{one.id}"
    form = {"url": HOOK, "events": ["memory.erased"], "description": "Books", "include_text": "on"}
    assert admin.submit(f"{path}/edit", **form).status_code == 302
    admin.submit(f"{path}/switch", at="", on="no")
    (changed,) = hooks(admin)
    assert (changed.events, changed.description, changed.include_text) == (["memory.erased"], "Books", True)
    assert not changed.is_active
    assert admin.submit(f"{path}/test", at="").status_code == 409
    admin.submit(f"{path}/switch", at="", on="yes")
    assert hooks(admin)[0].is_active


def test_a_rotated_secret_is_shown_with_the_rotation_alone(admin):
    one = webhook(admin.caller)
    path = f"webhooks/{one.id}"
    first = admin.submit(f"{path}/secret", at="").text.split('id="secret">')[1].split("<")[0]
    rotated = admin.submit(f"{path}/rotate")
    second = rotated.text.split('id="secret">')[1].split("<")[0]
    assert first != second
    assert rotated.headers["cache-control"] == "no-store"
    assert second not in admin.open(path).text
    assert hooks(admin)[0].secret_version == 2


def test_one_is_deleted_with_its_deliveries_after_a_look_at_what_that_means(admin):
    one = webhook(admin.caller)
    delivered(admin.caller, {}, hook=one)
    assert "all its deliveries" in admin.open(f"webhooks/{one.id}/delete").text
    assert admin.submit(f"webhooks/{one.id}/delete").status_code == 302
    with scope(admin.tenant.id):
        assert not Delivery.objects.filter(tenant_id=admin.tenant.id).exists()
    assert admin.open(f"webhooks/{one.id}").status_code == 404


def test_a_failed_delivery_is_sent_again(admin, browse, picture):
    one = delivered(admin.caller, {"text": HOSTILE}, last_error="HTTP 500")
    page = browse(admin)
    page.goto(admin.path("deliveries"))
    picture(page, "deliveries-list")
    page.get_by_role("link", name="memory.created").click()
    expect(page.locator("pre.json")).to_contain_text("<script>alert(1)</script>", use_inner_text=True)
    expect_harmless(page)
    picture(page, "delivery-failed")
    page.get_by_role("button", name="Send again").click()
    expect(page.locator("#delivery .badge").first).to_have_text("pending")
    with scope(admin.tenant.id):
        assert Delivery.objects.get(tenant_id=admin.tenant.id, id=one.id).attempts == 0


def test_deliveries_are_filtered(admin):
    hook = webhook(admin.caller)
    failed, sent = delivered(admin.caller, {}, hook=hook), delivered(admin.caller, {}, state="delivered")
    shown = admin.open("deliveries", state="failed").text
    assert str(failed.id) in shown
    assert str(sent.id) not in shown
    shown = admin.open("deliveries", webhook=str(sent.webhook_id)).text
    assert str(sent.id) in shown
    assert str(failed.id) not in shown
    assert admin.open("deliveries", webhook="x").status_code == 422


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.PRIVACY_OFFICER])
def test_only_admins_see_webhooks(person, role):
    assert person(role).open("webhooks").status_code == 403
