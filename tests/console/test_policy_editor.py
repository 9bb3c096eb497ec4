"""A level's policy in its form: every field, what is wrong with each of them, and what was typed."""

import re

import pytest
from playwright.sync_api import expect

from tenants.policy.telling import tell_policy
from tenants.policy.versions import Level, read_level, write_policy
from tests.console.people import Person
from tests.console.senses import expect_fits, violations

WRONG = {
    "recall.alpha": "7",
    "recall.top_k": "many",
    "session.max_age_seconds": "900000000",
    "write.events": "sometimes",
    "entities.allowed_keys": "diet, home",
    "recall.weights": '{"words": "heavy", "charm": 1}',
}


def error_of(text: str, field: str) -> str:
    """What stands beside the field."""
    found = re.search(rf'id="id_{re.escape(field)}_error">(.*?)</div>', text, re.DOTALL)
    return found.group(1) if found else ""


def document_of(person: Person) -> dict:
    return read_level(level=Level(person.tenant.id)).document


def test_the_policy_is_edited_compared_and_brought_back(admin: Person, browse, picture):
    page = browse(admin)
    page.goto(admin.path("policy"))
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("recall.alpha").fill("0.6")
    page.get_by_label("recall.top_k").fill("4")
    page.get_by_label("Note").fill("Likeness counts for less.")
    picture(page, "policy-edit-filled")
    page.get_by_role("button", name="Save a new version").click()
    page.get_by_text("The policy is at version 1.").wait_for()
    row = page.locator("li", has=page.get_by_text("recall.alpha", exact=True))
    expect(row).to_contain_text("the tenant")
    expect(row).to_contain_text("0.6")
    picture(page, "policy-decided")
    write_policy(level=Level(admin.tenant.id), actor="test", changes={"recall": {"alpha": None, "top_k": 9}})
    page.get_by_role("link", name="History").click()
    expect(page.locator(".timeline > li")).to_have_count(2)
    picture(page, "policy-history-two")
    page.get_by_role("link", name="Bring back version 1").click()
    expect(page.locator(".differences")).to_contain_text("recall.top_k")
    page.get_by_role("button", name="Bring it back").click()
    page.get_by_text("Version 3 says what version 1 said.").wait_for()
    assert document_of(admin) == {"recall": {"alpha": 0.6, "top_k": 4}}


@pytest.mark.parametrize("version", ["", "x", "-1", "9" * 10])
def test_none_is_brought_back_by_who_does_not_say_what_stands_now(admin, version):
    for top_k in (4, 9):
        write_policy(level=Level(admin.tenant.id), actor="test", changes={"recall": {"top_k": top_k}})
    answer = admin.submit("policy/versions/1/rollback", version=version)
    assert (answer.status_code, "Say which version you have seen." in answer.text) == (422, True)
    assert document_of(admin) == {"recall": {"top_k": 9}}


def test_everything_that_is_wrong_is_told_at_once_beside_its_field(admin):
    answer = admin.submit("policy/edit", version="0", **WRONG)
    assert answer.status_code == 422
    for field in WRONG:
        assert error_of(answer.text, field), field
        assert f'href="#id_{field}"' in answer.text
    weights = error_of(answer.text, "recall.weights")
    assert "words: " in weights
    assert "charm" in weights
    assert "6 fields are wrong" in answer.text
    for typed in ("many", "diet, home", "900000000", "&quot;heavy&quot;"):
        assert typed in answer.text
    assert document_of(admin) == {}


def test_fields_that_do_not_go_together_are_told_with_the_others(admin):
    fields = {"session.idle_seconds": "172800", "recall.alpha": "7"}
    answer = admin.submit("policy/edit", version="0", **fields)
    assert "before Redis lets go" in error_of(answer.text, "session.idle_seconds")
    assert error_of(answer.text, "recall.alpha")


def test_the_browser_keeps_what_was_typed_and_fits_a_narrow_screen(admin, browse, picture):
    page = browse(admin, width=360, allow=("422",))
    page.goto(admin.path("policy/edit"))
    expect_fits(page, 360)
    page.get_by_label("recall.top_k").fill("many")
    page.get_by_label("recall.alpha").fill("7")
    page.get_by_label("write.events").select_option("off")
    page.get_by_role("button", name="Save a new version").click()
    expect(page.locator("[role=alert]")).to_contain_text("2 fields are wrong")
    expect(page.get_by_label("recall.top_k")).to_have_value("many")
    expect(page.get_by_label("recall.alpha")).to_have_value("7")
    expect(page.get_by_label("write.events")).to_have_value("off")
    expect_fits(page, 360)
    assert violations(page) == []
    picture(page, "policy-edit-wrong-narrow")
    page.get_by_role("link", name="recall.alpha").click()
    expect(page.get_by_label("recall.alpha")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("typed", "decided"),
    [
        (
            {"entities.allowed_keys": '["diet", "home_town"]'},
            {"entities": {"allowed_keys": ["diet", "home_town"]}},
        ),
        ({"entities.allowed_keys": "[]"}, {"entities": {"allowed_keys": []}}),
        ({"recall.weights": '{"words": 1.5}'}, {"recall": {"weights": {"words": 1.5}}}),
        ({"write.on_turn": "true", "write.events": "off"}, {"write": {"on_turn": True, "events": "off"}}),
        ({"trial.share": " 0.5 ", "trial.profile": "fused"}, {"trial": {"share": 0.5, "profile": "fused"}}),
        ({"recall.alpha": ""}, {}),
    ],
)
def test_every_kind_of_value_is_taken_and_shown_again(typed, decided, admin):
    assert admin.submit("policy/edit", version="0", **typed).status_code == 302
    assert document_of(admin) == decided
    again = admin.submit("policy/edit", version=str(int(bool(decided))), **typed)
    assert again.status_code == 302
    shown = admin.open("policy/edit").text
    for value in typed.values():
        assert value.strip().replace('"', "&quot;") in shown


def test_what_is_emptied_is_as_the_level_above_says(admin):
    write_policy(level=Level(admin.tenant.id), actor="test", changes={"recall": {"alpha": 0.6, "top_k": 7}})
    assert 'name="recall.alpha" value="0.6"' in admin.open("policy/edit").text
    assert admin.submit("policy/edit", version="1", **{"recall.top_k": "7"}).status_code == 302
    assert document_of(admin) == {"recall": {"top_k": 7}}


def test_an_agents_form_says_what_the_tenant_decides(admin):
    write_policy(level=Level(admin.tenant.id), actor="test", changes={"recall": {"alpha": 0.6}})
    text = admin.open("policy/edit", agent="helper").text
    assert re.search(r'name="recall.alpha"[^>]*placeholder="0.6"', text)
    assert "trial.share" not in text


def test_who_was_overtaken_keeps_what_was_typed(admin):
    write_policy(level=Level(admin.tenant.id), actor="test", changes={"recall": {"top_k": 9}})
    answer = admin.submit("policy/edit", version="0", **{"recall.top_k": "8"})
    assert answer.status_code == 409
    assert 'name="recall.top_k" value="8"' in answer.text
    assert document_of(admin) == {"recall": {"top_k": 9}}


@pytest.mark.parametrize("typed", ["a\0b", "[" * 100_000, '["\\u0000"]', '["\\ud800"]', "NaN", "1e999"])
def test_what_cannot_be_stored_is_refused_beside_its_field(typed, admin):
    for field in ("entities.allowed_keys", "recall.alpha", "recall.weights"):
        answer = admin.submit("policy/edit", version="0", **{field: typed})
        assert answer.status_code == 422
        assert error_of(answer.text, field)
    assert document_of(admin) == {}


def test_the_example_of_a_field_is_one_that_is_taken(admin):
    policy = read_level(level=Level(admin.tenant.id))
    shown = [one for section in tell_policy(policy) for one in section.fields if one.example is not None]
    assert len(shown) == 4
    changes: dict = {}
    for one in shown:
        section, _, name = one.name.partition(".")
        changes.setdefault(section, {})[name] = one.example
    assert write_policy(level=policy.level, actor="test", changes=changes).document == changes
    assert admin.open("policy/edit").text.count("Such as ") == len(shown)
