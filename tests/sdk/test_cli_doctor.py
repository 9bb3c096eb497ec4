"""`strata doctor`: each way to have forgotten is told from the others."""

import json
from typing import Any

import pytest
from strata_memory.cli.texts import columns

from tests.conftest import Member
from tests.processes import free_port
from tests.sdk.command_line import known, strata
from tests.sdk.test_cli_commands import listening, save, turn

FACT = "Ana wants an email rather than a phone call"


def verdict(member: Member, *arguments: str, status: int = 1) -> dict[str, str]:
    done = strata(member, "doctor", *arguments, "--user", "ada", "--json")
    assert done.status == status, done
    told: dict[str, str] = done.json["verdict"]
    return told


def test_what_is_remembered_and_recalled_is_no_fault(acme: Member) -> None:
    save(acme, f"{FACT}.")
    done = strata(acme, "doctor", FACT, "--user", "ada", "--query", "How does she like to be contacted?")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[-2] == f'No fault. "{FACT}." is remembered, and recall brings it at rank 1.'
    assert lines[-1].startswith("Next: ")
    assert "may read, write" in done.out
    assert "cosine" in done.out


def test_what_is_like_it_in_meaning_is_shown_and_not_taken_for_it(acme: Member) -> None:
    other = "Ana would like e-mails instead of telephone calls."
    save(acme, other)
    done = strata(acme, "doctor", FACT, "--user", "ada", "--json")
    assert done.status == 5
    told = done.json["verdict"]
    assert told["fault"] == "unsure"
    assert f'"{other}"' in told["sentence"]
    assert "Recall brings it at rank 1." in told["sentence"]
    memory = done.json["evidence"]["memories"][0]
    assert (memory["by_meaning"], memory["says"]) == (True, False)
    assert f"cosine {memory['share']:.2f}" in told["sentence"]


@pytest.mark.parametrize(
    ("said", "fact", "shown"),
    [
        ("I live in Paris.", "Dora hates Paris", "home_city: Paris"),
        ("I live in Berlin.", "The weather in Berlin is awful", "home_city: Berlin"),
        ("I prefer email.", "Ana never wants an email", "preference:contact: email"),
        ("I prefer email.", "Ana prefers a phone call to an email", "preference:contact: email"),
        ("I live in Oslo.", "She does not live in Oslo", "home_city: Oslo"),
    ],
)
def test_a_slot_that_shares_a_word_with_the_fact_is_not_the_fact(
    acme: Member, said: str, fact: str, shown: str
) -> None:
    strata(acme, "remember", said, "--user", "ada")
    done = strata(acme, "doctor", fact, "--user", "ada")
    assert done.status == 5, done
    unsure = next(line for line in done.out.splitlines() if line.startswith("Unsure. "))
    assert f'"{shown}"' in unsure
    assert "No fault" not in done.out


def test_the_opposite_of_what_is_remembered_is_not_called_remembered(acme: Member) -> None:
    save(acme, "Dora loves Paris.")
    told = verdict(acme, "Dora hates Paris", status=5)
    assert told["fault"] == "unsure"
    assert '(67% of its words): "Dora loves Paris."' in told["sentence"]


@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_what_it_finds_fits_the_terminal(acme: Member, width: str) -> None:
    save(acme, f"{FACT}.")
    asked = ("doctor", FACT, "--user", "ada", "--query", "How does she like to be contacted?")
    done = strata(acme, *asked, env={**known(acme), "COLUMNS": width})
    assert done.status == 0
    assert max(map(columns, done.out.splitlines())) <= int(width)
    assert " ".join(done.out.split()).count(f'"{FACT}."') == 2  # whole, however it is broken into lines


def test_what_nobody_wrote_was_never_written(acme: Member) -> None:
    told = verdict(acme, FACT)
    assert told["fault"] == "write"
    assert "never written" in told["sentence"]
    assert "/api/v1/remember" in told["next_step"]


def test_a_refused_write_is_named_with_its_reason(acme: Member) -> None:
    strata(acme, "remember", "Maybe I prefer trains.", "--user", "ada")
    told = verdict(acme, "She prefers trains")
    assert told["fault"] == "write"
    assert "low_confidence" in told["sentence"]
    assert "/confirm" in told["next_step"]


@pytest.mark.parametrize("told", ["My card is 4111 1111 1111 1111", "My password is swordfish99"])
def test_a_write_that_was_refused_for_what_is_masked_since_is_named(acme: Member, told: str) -> None:
    assert "blocklist" in strata(acme, "remember", told, "--user", "ada").out
    said = verdict(acme, told)
    assert said["fault"] == "write"
    assert "was refused" in said["sentence"]
    assert "(blocklist)" in said["sentence"]
    assert "sensitive.*" in said["next_step"]
    assert told.rsplit(maxsplit=1)[-1] not in said["sentence"]


def test_a_slot_that_was_refused_for_its_value_is_named(acme: Member) -> None:
    slot = {"value": "4111 1111 1111 1111"}
    assert acme.http.put("/api/v1/entities/ada/card_number", json=slot).status_code == 422
    said = verdict(acme, "My card number is 4111 1111 1111 1111")
    assert said["fault"] == "write"
    assert "(blocklist)" in said["sentence"]


def test_a_value_that_waits_to_be_confirmed_is_told(acme: Member) -> None:
    strata(acme, "remember", "My email is ada@example.org.", "--user", "ada")
    told = verdict(acme, "email ada@example.org")
    assert told["fault"] == "write"
    assert "confirm" in told["next_step"]


def test_a_slot_that_has_another_value_now_has_ended(acme: Member) -> None:
    for city in ("Oslo", "Bergen"):
        strata(acme, "remember", f"I live in {city}.", "--user", "ada")
    told = verdict(acme, "She lives in Oslo")
    assert told["fault"] == "ttl"
    assert "another took its place" in told["sentence"]
    assert verdict(acme, "She lives in Bergen", status=0)["fault"] == "none"


def test_a_retracted_episode_has_ended(acme: Member) -> None:
    stored = save(acme, f"{FACT}.")
    acme.http.post(f"/api/v1/episodes/{stored}/retract").raise_for_status()
    told = verdict(acme, FACT)
    assert told["fault"] == "ttl"
    assert "took it back" in told["sentence"]
    assert stored in told["next_step"]


def test_another_agents_memory_is_not_found_by_this_one(acme: Member) -> None:
    save(acme, f"{FACT}.", agent_id="billing")
    told = verdict(acme, FACT, "--agent", "support")
    assert told["fault"] == "retrieval"
    assert "agent billing" in told["sentence"]
    assert verdict(acme, FACT, "--agent", "billing", status=0)["fault"] == "none"


def test_a_memory_that_comes_too_late_is_told_with_its_rank(acme: Member) -> None:
    save(acme, f"{FACT}.")
    for number in range(12):
        save(acme, f"Ticket {number}: the export of the billing service fails with error 500.")
    told = strata(
        acme, "doctor", FACT, "--user", "ada", "--query", "Why does the billing export fail?", "--json"
    )
    assert told.status == 1
    assert told.json["verdict"]["fault"] == "retrieval"
    assert told.json["evidence"]["search"]["rank"] == 13
    assert "rank 13" in told.json["verdict"]["sentence"]
    assert strata(acme, "doctor", FACT, "--user", "ada").status == 0  # asked in its own words


def test_what_a_session_was_told_is_not_told_again(acme: Member) -> None:
    save(acme, f"{FACT}.")
    turn(acme, "How shall I reach Ana?")
    strata(acme, "context", "by email or by phone?", "--session", "talk", "--user", "ada")
    told = verdict(acme, FACT, "--session", "talk", status=0)
    assert told["fault"] == "none"
    assert "dedupe" in told["next_step"]


def test_what_was_only_said_is_in_the_window_or_has_left_it(acme: Member) -> None:
    turn(acme, f"{FACT}.")
    told = verdict(acme, FACT, "--session", "talk", status=0)
    assert "stands in its window" in told["sentence"]
    for number in range(20):
        turn(acme, f"And another thing, number {number}.")
    told = verdict(acme, FACT, "--session", "talk")
    assert told["fault"] == "ttl"
    assert "event 1" in told["sentence"]
    assert "There is no session" in verdict(acme, FACT, "--session", "no such")["sentence"]


def test_a_restricted_person_is_told_to_whoever_may_know(acme: Member) -> None:
    save(acme, f"{FACT}.")
    officer = acme.with_key(scopes=["read", "privacy"])
    officer.http.post("/api/v1/subjects/ada/restrict", json={}).raise_for_status()
    assert verdict(officer, FACT)["fault"] == "restricted"
    without = strata(acme, "doctor", FACT, "--user", "ada")
    assert without.status == 1
    assert "restriction and erasures are seen with scope privacy" in without.out


def test_an_erased_person_is_told(acme: Member) -> None:
    officer = acme.with_key(scopes=["read", "write", "privacy"])
    save(acme, f"{FACT}.")
    officer.http.post("/api/v1/subjects/ada/erase", json={}).raise_for_status()
    done = strata(officer, "doctor", "something else entirely", "--user", "ada", "--json")
    assert done.status == 5
    assert done.json["evidence"]["erased_at"]
    assert "erased on" in done.json["verdict"]["sentence"]


def test_a_server_that_is_away_and_a_key_that_is_none_are_told_first(acme: Member) -> None:
    gone = {**known(acme), "STRATA_URL": f"http://127.0.0.1:{free_port()}"}
    away = strata(None, "doctor", FACT, env=gone)
    assert away.status == 3
    assert away.out.startswith("Fault: server. The server does not answer: ")
    unknown = strata(None, "doctor", FACT, "--json", env={**known(acme), "STRATA_API_KEY": "mem_none_none"})
    assert unknown.status == 4
    assert fault(unknown.out) == "key"
    keyless = {name: value for name, value in known(acme).items() if name != "STRATA_API_KEY"}
    without = strata(None, "doctor", FACT, env=keyless)
    assert without.status == 4
    assert "Fault: key. The server asks for a key, and none is named" in without.out
    writer = acme.with_key(scopes=["write"])
    assert verdict(writer, FACT, status=4)["sentence"] == "The key may not read."


def test_what_answers_and_is_no_server_of_ours_is_told_apart(acme: Member) -> None:
    with listening() as (port, _heard):
        other = {**known(acme), "STRATA_URL": f"http://127.0.0.1:{port}"}
        done = strata(None, "doctor", FACT, env=other)
    assert done.status != 0
    assert "does not answer" not in done.out.replace("does not answer as it should", "")


def test_looking_changes_nothing(acme: Member) -> None:
    stored = save(acme, f"{FACT}.")
    before = acme.http.get(f"/api/v1/episodes/{stored}").json()
    turn(acme, "Hello.")
    strata(acme, "doctor", FACT, "--user", "ada", "--session", "talk")
    assert acme.http.get(f"/api/v1/episodes/{stored}").json() == before
    assert acme.http.get("/api/v1/injections", params={"user_id": "ada"}).json()["results"] == []
    assert acme.http.get("/api/v1/write-decisions", params={"user_id": "ada"}).json()["results"] == []


def fault(out: str) -> Any:
    return json.loads(out)["verdict"]["fault"]
