"""Procedures: read, compared, rolled back by an admin."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from knowledge.deploying import deploy_procedures
from knowledge.procedure_files import read_procedure
from knowledge.procedures import access_procedure
from knowledge.versions import list_named, read_history, roll_back
from tenants.audit import list_entries
from tenants.errors import Forbidden, NotFound
from tests.console.remembered import HOSTILE
from tests.console.senses import expect_harmless


def deploy(caller, body, version, *, environment="production", name="greeting"):
    text = read_procedure(f"---\nname: {name}\nversion: {version}\n---\n{body}".encode(), origin="p.md")
    deploy_procedures(
        tenant_id=caller.tenant_id, environment=environment, texts=[text], actor="test", now=timezone.now()
    )


@pytest.fixture
def two(admin):
    deploy(admin.caller, "Greet warmly and briefly.", "1")
    deploy(admin.caller, "Greet coldly and briefly.", "2")
    deploy(admin.caller, "Greet warmly and briefly.", "1", environment="staging")
    return admin


def test_versions_are_compared_and_one_is_rolled_back_to(two, browse, picture):
    page = browse(two)
    page.goto(two.path("procedures"))
    picture(page, "procedures-deployed")
    page.get_by_role("link", name="greeting").click()
    page.get_by_label("Version", exact=True).select_option("1")
    page.get_by_label("compared with").select_option("2")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("del")).to_have_text("coldly")
    expect(page.locator("ins")).to_have_text("warmly")
    picture(page, "procedure-differences")
    page.get_by_role("link", name="Have it run 1").click()
    roll_back = page.get_by_role("button", name="Roll back")
    expect(roll_back).to_be_visible()
    expect(page.locator("ins", has_text="warmly")).to_have_count(1)
    picture(page, "procedure-back")
    roll_back.click()
    page.get_by_text("production runs version 1 now, instead of 2.").wait_for()
    assert access_procedure(caller=two.caller, name="greeting").version == "1"
    entry = list_entries(caller=two.caller, limit=1)[0]
    assert (entry.action, entry.actor) == ("procedure.deploy", two.caller.principal)


def test_only_an_admin_rolls_back(two, editor, acme):
    assert editor.open("procedure-roll-back/greeting").status_code == 403
    assert "Have it run" not in editor.open("procedure/greeting", version="1").text
    for caller in (editor.caller, acme.with_key(scopes=["admin"], project="orders").caller):
        with pytest.raises(Forbidden):
            roll_back(caller=caller, name="greeting", environment="production", to="1", now=timezone.now())
    assert access_procedure(caller=two.caller, name="greeting").version == "2"


def test_what_is_not_there_is_refused(two):
    answer = two.submit("procedure-roll-back/greeting", environment="production", to="3")
    assert answer.status_code == 404
    assert two.submit("procedure-roll-back/greeting", environment="nowhere", to="1").status_code == 404
    assert two.open("procedure/other").status_code == 404
    assert two.open("procedure/greeting", version="9").status_code == 404


def test_everything_is_told_and_to_nobody_else(two, globex):
    (named,) = list_named(caller=two.caller)
    assert [(one.environment, one.version) for one in named.running] == [
        ("production", "2"),
        ("staging", "1"),
    ]
    history = read_history(caller=two.caller, name="greeting")
    assert ([one.version for one in history.versions], len(history.deployments)) == (["2", "1"], 3)
    assert list_named(caller=globex.caller) == []
    with pytest.raises(NotFound):
        read_history(caller=globex.caller, name="greeting")


def test_a_hostile_body_is_shown_and_does_nothing(admin, browse):
    deploy(admin.caller, HOSTILE, "1", name="a/b")
    page = browse(admin)
    page.on("dialog", lambda _dialog: pytest.fail("a script ran"))
    page.goto(admin.path("procedure/a/b"))
    expect(page.locator("main")).to_contain_text("<script>alert(1)</script>", use_inner_text=True)
    expect_harmless(page)
