"""`strata` against the running server: what it writes, reads and says."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.conftest import Member
from tests.processes import free_port
from tests.sdk.command_line import COMMAND, ROOT, known, strata, surroundings


def test_what_is_remembered_is_shown_and_recalled(acme: Member) -> None:
    done = strata(acme, "remember", "I live in Oslo. Maybe I prefer trains.", "--user", "ada")
    assert done.status == 0
    assert "home_city: Oslo" in done.out
    assert "low_confidence" in done.out
    found = strata(acme, "recall", "Where does she live?", "--user", "ada")
    assert found.status == 0
    assert "home_city: Oslo" in found.out
    assert strata(acme, "recall", "Where does she live?", "--user", "bob").status == 1


def test_a_refused_write_says_why_and_is_status_1(acme: Member) -> None:
    done = strata(acme, "remember", "-", "--user", "ada", typed="My password is hunter2-Xy7q.\n")
    assert done.status == 1
    assert "blocklist" in done.out
    assert "hunter2" not in done.out
    assert "Nothing was written." in done.out


def test_json_is_the_servers_answer(acme: Member) -> None:
    strata(acme, "remember", "I live in Oslo.", "--user", "ada")
    told = strata(acme, "--json", "recall", "home", "--user", "ada", "--kind", "entity", "--explain").json
    assert [one["text"] for one in told["results"]] == ["home_city: Oslo"]
    assert told["stages"]
    assert strata(acme, "recall", "home", "--user", "bob", "--json").json["results"] == []


def test_an_explanation_draws_what_each_part_gave_and_that_is_the_whole_score(acme: Member) -> None:
    save(acme, "Does Ana want an email rather than a call?")
    done = strata(acme, "recall", "email", "--user", "ada", "--explain")
    first, text, *parts, stages = done.out.splitlines()
    assert text.strip() == "Does Ana want an email rather than a call?"
    assert stages.startswith("Stages: ")
    given = {line.split()[0]: line for line in parts}
    assert {"cosine", "bm25", "asks"} <= set(given)
    assert "█" in given["cosine"]
    assert "-0." in given["asks"]
    assert "█" not in given["asks"]
    gifts = [float(re.findall(r"[+-]?\d+\.\d\d", line)[-1]) for line in parts]
    assert sum(gifts) == pytest.approx(float(first.split()[1]), abs=0.005 * len(parts) + 0.001)


def test_a_refused_question_is_told_once(acme: Member) -> None:
    done = strata(acme, "recall", "anything")
    assert (done.status, done.out) == (4, "")
    assert done.err.count("whose memories are meant?") == 1


def test_context_shows_the_messages_and_why(acme: Member) -> None:
    save(acme, "Ana wants an email rather than a call.")
    turn(acme, "How shall I reach her?")
    asked = ("context", "by email or by phone?", "--session", "talk", "--user", "ada")
    done = strata(acme, *asked, "--system", "Be brief.")
    assert done.status == 0
    assert "Be brief." in done.out
    assert "<retrieved_memory" in done.out
    assert any(line.split()[:4] == ["episode", "yes", "recalled", "new"] for line in done.out.splitlines())
    told = {one["kind"]: one for one in strata(acme, *asked, "--json").json["items"]}
    assert told["episode"]["ledger"] == "told"
    again = {one["kind"]: one for one in strata(acme, *asked, "--again", "--json").json["items"]}
    assert again["episode"]["included"]


def test_context_begins_no_session(acme: Member) -> None:
    save(acme, "Ana wants an email rather than a call.")
    done = strata(acme, "context", "by email or by phone?", "--session", "tlak", "--user", "ada")
    assert (done.status, done.out, done.err) == (1, "", "strata: There is no session tlak.\n")
    assert strata(acme, "context", "email?", "--session", "", "--user", "ada").status == 2
    assert strata(acme, "sessions").status == 1


def test_sessions_are_listed_and_the_log_of_one_is_shown(acme: Member) -> None:
    assert strata(acme, "sessions").status == 1
    turn(acme, "The export fails.")
    done = strata(acme, "sessions", "--user", "ada")
    assert done.status == 0
    assert done.out.splitlines()[1].split()[:2] == ["talk", "ada"]
    log = strata(acme, "sessions", "talk", "--user", "ada")
    assert "The export fails." in log.out
    assert strata(acme, "sessions", "talk", "--json").json["events"][0]["content"] == "The export fails."
    away = strata(acme, "sessions", "no such", "--user", "ada")
    assert away.status == 1
    assert away.err.startswith("strata: There is no such thing")


def test_more_sessions_than_a_page_are_listed_up_to_the_limit(acme: Member) -> None:
    for number in range(205):
        acme.http.post("/api/v1/sessions", json={"session_id": f"s{number}"}).raise_for_status()
    listed = strata(acme, "sessions", "--limit", "203", "--json").json
    assert len({one["session_id"] for one in listed}) == 203


def test_what_others_wrote_cannot_command_the_terminal(acme: Member) -> None:
    turn(acme, "red \x1b[31m alert \x9b2J \u202e beep \x07")
    for command in (("sessions", "talk"), ("tail", "--since", "0")):
        shown = strata(acme, *command).out if command[0] == "sessions" else first_line(acme, *command)
        assert "alert" in shown
        assert not set("\x1b\x9b\u202e\x07") & set(shown)


def test_tail_shows_what_happens_from_where_it_is_told(acme: Member) -> None:
    turn(acme, "first")
    seen = json.loads(first_line(acme, "tail", "--since", "0", "--json"))
    assert (seen["content"], seen["session_id"], seen["user_id"]) == ("first", "talk", "ada")
    turn(acme, "second")
    follow = json.loads(first_line(acme, "tail", "--since", seen["cursor"], "--json"))
    assert follow["content"] == "second"
    turn(acme, "elsewhere", session="other")
    assert "elsewhere" in first_line(acme, "tail", "--since", "0", "--session", "other")


def test_where_it_is_narrow_an_event_of_tail_takes_two_lines(acme: Member) -> None:
    turn(acme, "The export fails.")
    with following(acme, "tail", "--since", "0", COLUMNS="40") as process:
        assert process.stdout is not None
        head, text = process.stdout.readline(), process.stdout.readline()
    assert "talk" in head
    assert len(head.rstrip("\n")) <= 40
    assert text == "  The export fails.\n"


def test_ctrl_c_ends_tail_without_a_word(acme: Member) -> None:
    turn(acme, "first")
    with following(acme, "tail", "--since", "0") as process:
        assert process.stdout is not None
        assert "first" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_reader_that_goes_away_is_no_error(acme: Member) -> None:
    for number in range(3):
        turn(acme, f"{number} " + "long " * 20_000)
    command = " ".join(COMMAND)
    piped = f"{command} sessions talk --json | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", piped], cwd=ROOT, env=known(acme), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "{", "")


def test_output_that_cannot_be_written_is_told_in_one_sentence(acme: Member) -> None:
    for number in range(3):
        turn(acme, f"{number} " + "long " * 20_000)
    for command in (["sessions"], ["sessions", "talk"], ["sessions", "talk", "--json"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*COMMAND, *command], cwd=ROOT, env=known(acme), stdout=full, stderr=subprocess.PIPE,
                text=True, timeout=120, check=False,
            )  # fmt: skip
        said = "strata: The output cannot be written: No space left on device.\n"
        assert (done.returncode, done.stderr) == (1, said)


def test_a_stream_that_is_closed_is_no_traceback(acme: Member) -> None:
    turn(acme, "The export fails.")
    command = " ".join(COMMAND)
    for shell, status in (
        ("sessions talk >&-", 0),
        ("sessions talk 2>&-", 0),
        ("remember - --user ada <&-", 2),
    ):
        done = subprocess.run(
            ["bash", "-c", f"{command} {shell}"], cwd=ROOT, env=known(acme), capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == status, done
        assert "Traceback" not in done.stderr


def test_each_way_to_fail_has_its_status(acme: Member) -> None:
    reader = acme.with_key(scopes=["read"])
    assert strata(reader, "remember", "I live in Oslo.", "--user", "ada").status == 4
    unknown = {**known(acme), "STRATA_API_KEY": "mem_none_none"}
    refused = strata(None, "sessions", env=unknown)
    assert (refused.status, refused.out) == (4, "")
    assert "mem_none" not in refused.err
    away = strata(None, "sessions", env={**known(acme), "STRATA_URL": f"http://127.0.0.1:{free_port()}"})
    assert away.status == 3
    assert away.err.startswith("strata: The server does not answer: ")
    for wrong in (("sing",), ("recall",), ("recall", "x", "--top-k", "0"), ("sessions", "--timeout", "0")):
        assert strata(acme, *wrong).status == 2, wrong


def test_without_a_server_or_a_key_it_says_what_to_do(acme: Member, tmp_path: Path) -> None:
    nowhere = strata(None, "sessions", cwd=tmp_path)
    assert (nowhere.status, nowhere.out) == (2, "")
    assert "--url or STRATA_URL" in nowhere.err
    asked = {**surroundings(), "STRATA_URL": str(acme.http.base_url)}
    unnamed = strata(None, "sessions", cwd=tmp_path, env=asked)
    assert unnamed.status == 4
    assert (
        unnamed.err == "strata: The server asks for a key, and none is named: use STRATA_API_KEY or --key.\n"
    )
    keyless = strata(None, "--url", "http://user:secret@127.0.0.1:1", "sessions", cwd=tmp_path)
    assert keyless.status == 2
    assert "secret" not in keyless.err
    password = strata(None, "--url", "http://u:secret@127.0.0.1:1", "--key", "k", "sessions", cwd=tmp_path)
    assert password.status == 2
    assert "secret" not in password.err


def test_the_key_of_make_run_is_sent_to_its_server_only(acme: Member, tmp_path: Path) -> None:
    run = {"url": str(acme.http.base_url), "api_key": acme.key, "admin_password": "not for anybody"}
    (tmp_path / ".memory").mkdir()
    (tmp_path / ".memory" / "run.json").write_text(json.dumps(run))
    assert strata(None, "sessions", cwd=tmp_path).status == 1  # there are none, and it was let in
    same = str(acme.http.base_url).replace("127.0.0.1", "localhost")
    assert strata(None, "--url", same, "sessions", cwd=tmp_path).status == 1
    with listening() as (port, heard):
        strata(None, "--url", f"http://127.0.0.1:{port}", "sessions", "--timeout", "5", cwd=tmp_path)
    assert heard
    assert not any("authorization" in one.lower() for one in heard)
    elsewhere = {**surroundings(), "MEMORY_HOME": str(tmp_path / ".memory")}
    assert strata(None, "sessions", env=elsewhere).status == 1


@pytest.mark.parametrize(("named", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals_and_not_where_it_is_unwanted(
    acme: Member, named: dict[str, str], coloured: bool
) -> None:
    turn(acme, "日本語 " * 100)
    env = {**known(acme), "COLUMNS": "60", "TERM": "xterm", **named}
    controlling, controlled = pty.openpty()
    subprocess.run(
        [*COMMAND, "sessions", "talk"], env=env, stdout=controlled, stderr=controlled, stdin=controlled,
        timeout=120, check=True,
    )  # fmt: skip
    os.close(controlled)
    shown = read_all(controlling)
    assert ("\x1b[1m" in shown) == coloured
    assert "日本" in shown
    assert "…" in shown


def save(member: Member, text: str, **more: object) -> str:
    answer = member.http.post("/api/v1/episodes", json={"user_id": "ada", "text": text, **more})
    answer.raise_for_status()
    stored: str = answer.json()["id"]
    return stored


def turn(member: Member, text: str, *, session: str = "talk") -> None:
    body = {"user_id": "ada", "turns": [{"role": "user", "content": text}]}
    member.http.post(f"/api/v1/sessions/{session}/turns", json=body).raise_for_status()


@contextlib.contextmanager
def following(member: Member, *arguments: str, **named: str) -> Iterator[subprocess.Popen[str]]:
    env = known(member) | named
    process = subprocess.Popen(
        [*COMMAND, *arguments], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def first_line(member: Member, *arguments: str) -> str:
    with following(member, *arguments) as process:
        assert process.stdout is not None
        return process.stdout.readline()


@contextlib.contextmanager
def listening() -> Iterator[tuple[int, list[str]]]:
    """A server that is none of ours, and what it is told."""
    heard: list[str] = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(str(self.headers))
            self.send_error(418)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port, heard
        finally:
            server.shutdown()


def read_all(descriptor: int) -> str:
    parts = []
    with contextlib.suppress(OSError):  # its other end is closed
        while part := os.read(descriptor, 65_536):
            parts.append(part)
    os.close(descriptor)
    return b"".join(parts).decode()
