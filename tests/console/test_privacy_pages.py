"""A person's rights, as a privacy officer sees to them."""

import html
import io
import json
import re
import zipfile
from urllib.parse import urlencode

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from episodic.episodes import store_episode
from episodic.models import Episode
from episodic.types import NewEpisode
from tenants.errors import Restricted
from tenants.models import Job
from tenants.scope import scope
from tests.console.people import Person
from tests.observations.notes import note
from tests.plugin import STORES
from tests.recall.talking import run_jobs
from working.memory import put_fields
from working.types import SessionAddress

HOSTILE = 'ann"><script>alert(1)</script>'


@pytest.fixture
def officer(person) -> Person:
    return person("privacy_officer")


def remember(person: Person, text: str = "Ann drinks tea.", user: str = "ann") -> str:
    new = NewEpisode(text=text, user_id=user)
    return str(store_episode(caller=person.caller, new=new, now=timezone.now()).id)


def episodes(person: Person, user: str) -> int:
    with scope(person.tenant.id):
        return Episode.objects.filter(user_id=user).count()


def test_a_person_is_erased_with_a_receipt(officer: Person, editor, browse, picture):
    for text in ("Ann drinks tea.", "Ann lives in Oslo."):
        remember(editor, text)
    page = browse(officer)
    page.goto(officer.path("privacy"))
    page.get_by_label("Person (user id)").fill("ann")
    page.get_by_role("button", name="Open").click()
    erase = page.get_by_role("link", name="Erase…")
    expect(erase).to_be_visible()
    picture(page, "privacy-person")
    erase.click()
    row = page.locator("tr", has=page.get_by_text("Memories of conversations"))
    expect(row.locator("td").nth(1)).to_have_text("2")
    picture(page, "privacy-erase-counts")
    page.get_by_label("Type the person's id").fill("ann")
    page.get_by_role("button", name="Erase for good").click()
    page.locator("#erasure").get_by_text("queued").wait_for()
    run_jobs()
    page.get_by_role("heading", name="Everything is erased").wait_for()
    assert episodes(officer, "ann") == 0
    page.get_by_role("link", name="See the receipt").click()
    page.get_by_role("heading", name="Signed, and nothing was left").wait_for()
    picture(page, "privacy-receipt-done")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    receipt = download.value.path().read_text()
    assert "drinks tea" not in receipt
    page.goto(officer.path("privacy/verify"))
    page.get_by_label("Receipt").fill(receipt)
    page.get_by_role("button", name="Verify").click()
    page.get_by_role("heading", name="Genuine and unchanged").wait_for()


def test_the_page_of_an_erasure_says_what_was_left(officer, editor):
    new = NewEpisode(text="Tea.", user_id="bob", metadata={"friend": "ann"}, topics=("ann",))
    store_episode(caller=editor.caller, new=new, now=timezone.now())
    asked = officer.submit("privacy/erase", at="privacy?user=ann", user="ann", confirm="ann")
    run_jobs()
    shown = officer.open(asked.headers["location"].split(f"{officer.tenant.slug}/", 1)[1]).text
    assert "Everything is erased" not in shown
    receipt = re.search(r"privacy/receipts/[0-9a-f-]{36}", shown).group()
    for text in (shown, officer.open(receipt).text):
        assert "omething was left" in text
        assert "Memories: metadata" in text
        assert "agent_episodes.metadata" in text
        assert "somebody else&#x27;s data" in text
        assert "agent_episodes.topics" not in text


def receipt_of(officer: Person, user: str) -> str:
    officer.submit("privacy/erase", at=f"privacy?{urlencode({'user': user})}", user=user, confirm=user)
    run_jobs()
    return re.search(r"privacy/receipts/[0-9a-f-]{36}", officer.open("privacy").text).group()


def links(text: str, officer: Person) -> list[str]:
    """The addresses in the table of what was left, below the tenant's."""
    table = text.split('aria-label="What was left"')[1].split("</table>", maxsplit=1)[0]
    return [html.unescape(one) for one in re.findall(rf'href="{officer.path()}/([^"]+)"', table)]


def test_what_was_left_is_shown_to_whoever_names_the_person(officer, editor):
    new = NewEpisode(text="Tea.", user_id="bob", metadata={"friend": "ann"}, session_id="ann")
    episode = store_episode(caller=editor.caller, new=new, now=timezone.now()).id
    noted = note(editor.caller, "Green tea.", user_id="bob", session_id="ann")
    receipt = receipt_of(officer, "ann")
    shown = officer.open(receipt).text
    assert "Show where it is" in shown
    assert str(episode) not in shown
    assert set(links(shown, officer)) == {"episodes", "observations"}  # whole lists
    told = officer.open(receipt, user="ann").text
    found = links(told, officer)
    assert {f"episodes/{episode}", "episodes?session=ann", f"observations/{noted.observation.id}"} <= set(
        found
    )
    for one in found:
        assert officer.open(one).status_code == 200, one
    wrong = officer.open(receipt, user="bob").text
    assert "about somebody else" in wrong
    assert str(episode) not in wrong


def test_at_most_twenty_things_of_a_place_are_shown(officer, editor):
    for number in range(23):
        new = NewEpisode(text=f"Tea {number}.", user_id="bob", metadata={"friend": "ann"})
        store_episode(caller=editor.caller, new=new, now=timezone.now())
    told = officer.open(receipt_of(officer, "ann"), user="ann").text
    assert len(links(told, officer)) == 20
    assert "20 of 23 are shown" in told


def test_sessions_in_redis_are_shown(officer, editor):
    address = SessionAddress("bobs talk", user_id="bob")
    put_fields(caller=editor.caller, address=address, data={"friend": "ann"}, now=timezone.now())
    told = officer.open(receipt_of(officer, "ann"), user="ann").text
    assert "redis.values" in told
    assert "within 7 days" in told
    (found,) = links(told, officer)
    assert "bobs talk" in officer.open(found).text
    STORES.redis.stop()
    try:
        assert "No page shows it" in officer.open(receipt_of_last(officer), user="ann").text
    finally:
        STORES.redis.start()


def receipt_of_last(officer: Person) -> str:
    return re.search(r"privacy/receipts/[0-9a-f-]{36}", officer.open("privacy").text).group()


def test_what_is_gone_meanwhile_is_not_shown(officer, editor):
    new = NewEpisode(text="Tea.", user_id="bob", metadata={"friend": "ann"})
    episode = store_episode(caller=editor.caller, new=new, now=timezone.now())
    receipt = receipt_of(officer, "ann")
    with scope(officer.tenant.id):
        Episode.objects.filter(id=episode.id).delete()
    told = officer.open(receipt, user="ann").text
    assert links(told, officer) == []
    assert "gone by now" in told


def test_pages_of_admins_are_no_links_for_an_officer(officer, person):
    with scope(officer.tenant.id):
        Job.objects.create(
            tenant_id=officer.tenant.id, kind="test.dead", state="failed", payload={"said": "ann"},
            run_at=timezone.now(), created_at=timezone.now(), max_attempts=1,
        )  # fmt: skip
    receipt = receipt_of(officer, "ann")
    told = officer.open(receipt, user="ann").text
    assert "Jobs: payload" in told
    assert links(told, officer) == []
    admin = person("admin")
    (found,) = links(admin.open(receipt, user="ann").text, admin)
    assert admin.open(found).status_code == 200


def test_a_page_of_what_was_left_obeys_no_id(officer, editor):
    new = NewEpisode(text="Tea.", user_id="bob", metadata={"friend": HOSTILE}, session_id=HOSTILE)
    store_episode(caller=editor.caller, new=new, now=timezone.now())
    receipt = receipt_of(officer, HOSTILE)
    for who in (HOSTILE, "bob", "x" * 300, "a\0b"):
        told = officer.open(receipt, user=who)
        assert told.status_code == 200
        assert "<script>alert" not in told.text


def test_a_forged_receipt_is_told(officer, editor):
    remember(editor)
    officer.submit("privacy/erase", at="privacy?user=ann", user="ann", confirm="ann")
    run_jobs()
    found = re.search(r"privacy/receipts/([0-9a-f-]{36})", officer.open("privacy").text).group(1)
    receipt = json.loads(officer.open(f"privacy/receipts/{found}", download="1").text)
    receipt["erased"]["episode"] += 1
    for text in (json.dumps(receipt), "{", "[]", "1"):
        answer = officer.submit("privacy/verify", receipt=text)
        assert "Not a receipt of this server" in answer.text


def test_another_id_erases_nobody(officer, editor):
    remember(editor)
    answer = officer.submit("privacy/erase", at="privacy?user=ann", user="ann", confirm="ben")
    assert answer.status_code == 422
    assert "This is another id." in answer.text
    run_jobs()
    assert episodes(officer, "ann") == 1


def test_a_copy_is_made_while_one_waits(officer: Person, editor, browse, picture):
    remember(editor)
    page = browse(officer)
    page.goto(officer.path("privacy") + "?user=ann")
    page.get_by_role("button", name="Export").click()
    page.locator("#exports progress").wait_for()
    run_jobs()
    link = page.locator("#exports").get_by_role("link", name="Download")
    link.wait_for()
    picture(page, "privacy-export-done")
    answer = officer.http.get(link.get_attribute("href"))
    assert "index.html" in zipfile.ZipFile(io.BytesIO(answer.content)).namelist()


def test_a_memory_is_restricted_and_set_free(officer, editor):
    remember(editor)
    officer.submit("privacy/restrict", at="privacy?user=ann", user="ann", reason="a quarrel")
    assert "a quarrel" in officer.open("privacy", user="ann").text
    assert "a quarrel" in officer.open("privacy").text
    with pytest.raises(Restricted):
        remember(editor, "Ann sings.")
    officer.submit("privacy/restrict", at="privacy?user=ann", user="ann", lift="1")
    remember(editor, "Ann sings.")


def test_a_link_opens_the_persons_own_page(officer, editor):
    remember(editor)
    answer = officer.submit("privacy/link", at="privacy?user=ann", user="ann")
    path = re.search(r"/me/enter/[A-Za-z0-9_.=-]+", answer.text).group()
    assert officer.http.get(path).status_code in {200, 302, 303}


def test_an_id_of_any_characters_is_shown_and_obeyed_nowhere(officer, editor):
    remember(editor, user=HOSTILE)
    for rest in ("privacy", "privacy/erase"):
        answer = officer.open(rest, user=HOSTILE)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
    at = f"privacy?{urlencode({'user': HOSTILE})}"
    assert officer.submit("privacy/export", at=at, user=HOSTILE).headers["location"].endswith(at)
    assert officer.open("privacy", user="x" * 300).status_code == 422
    assert officer.open("privacy", user="a\0b").status_code == 422
