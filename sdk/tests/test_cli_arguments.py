"""What is typed, and which server and key follow from it."""

import json
from pathlib import Path

import pytest
from strata_memory.addresses import Address, NoAddress, find_address
from strata_memory.cli.arguments import COMMANDS, parse
from strata_memory.cli.moments import moment, span
from strata_memory.cli.statuses import sentence_of, status_of
from strata_memory.errors import (
    ConnectionFailed,
    DeadlineExceeded,
    FieldError,
    Forbidden,
    Invalid,
    InvalidAnswer,
    NotFound,
    RateLimited,
    ServerError,
    StrataError,
    Unauthenticated,
)
from strata_memory.transport import NO_KEY

OURS = "http://127.0.0.1:8002"


def home(folder: Path, content: str) -> Path:
    (folder / ".memory").mkdir()
    (folder / ".memory" / "run.json").write_text(content)
    return folder


@pytest.fixture
def running(tmp_path: Path) -> Path:
    return home(tmp_path, json.dumps({"url": OURS, "api_key": "of make run"}))


def test_common_options_stand_before_the_command_or_behind_it() -> None:
    for argv in (
        ["--url", "http://x", "--json", "sessions"],
        ["sessions", "--json", "--url", "http://x"],
        ["--url", "http://y", "sessions", "--url", "http://x", "--json"],
    ):
        arguments = parse(argv)
        assert (arguments.url, arguments.json, arguments.key) == ("http://x", True, None)


def test_every_command_has_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as left:
            parse([name, "--help"])
        assert left.value.code == 0
        assert "--json" in capsys.readouterr().out


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["sing"],
        ["recall"],
        ["recall", "x", "--mode", "best"],
        ["sessions", "--timeout", "nan"],
        ["sessions", "--timeout", "soon"],
        ["context", "x"],
    ],
)
def test_wrong_arguments_are_told_with_status_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parse(argv)
    assert left.value.code == 2
    assert "usage: strata" in capsys.readouterr().err


def test_what_is_typed_goes_before_the_environment_and_that_before_make_run(running: Path) -> None:
    environment = {"STRATA_URL": "http://env/", "STRATA_API_KEY": "env"}
    typed = find_address("http://typed", "typed", environment=environment, folder=running)
    assert typed == Address("http://typed", "typed")
    assert find_address(None, None, environment=environment, folder=running) == Address("http://env", "env")
    assert find_address(None, None, environment={}, folder=running) == Address(OURS, "of make run")
    assert find_address(OURS + "/", None, environment={}, folder=running).api_key == "of make run"
    there = {"MEMORY_HOME": str(running / ".memory")}
    assert find_address(None, None, environment=there, folder=Path("/")) == Address(OURS, "of make run")


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"])
def test_whatever_this_machine_is_called_the_key_of_make_run_is_found(name: str, running: Path) -> None:
    for url in (f"http://{name}:8002", f"http://{name}:8002/"):
        assert find_address(url, None, environment={}, folder=running).api_key == "of make run"


@pytest.mark.parametrize(
    "url",
    [
        "http://elsewhere",
        "http://elsewhere:8002",
        "http://localhost",
        "http://localhost:8003",
        "https://localhost:8002",
        "http://localhost:8002/behind",
        "http://localhost.elsewhere:8002",
        "http://localhost@elsewhere:8002",
        "http://elsewhere@localhost:8002",
        "http://localhost:none",
        "http://[",
    ],
)
def test_the_key_of_make_run_goes_nowhere_else(url: str, running: Path) -> None:
    assert find_address(url, None, environment={}, folder=running) == Address(url, None)


@pytest.mark.parametrize("content", ["", "[]", "null", '{"url": 5}', '{"url": "'])
def test_a_spoilt_file_of_make_run_counts_as_none(content: str, tmp_path: Path) -> None:
    with pytest.raises(NoAddress, match="No server is named"):
        find_address(None, None, environment={}, folder=home(tmp_path, content))


@pytest.mark.parametrize(
    "url", ["https://evil.example", "http://localhost@evil.example", "localhost:1", "http://["]
)
def test_a_file_in_the_folder_does_not_name_a_server_elsewhere(url: str, tmp_path: Path) -> None:
    folder = home(tmp_path, json.dumps({"url": url, "api_key": "theirs"}))
    for environment in ({}, {"STRATA_API_KEY": "ours"}, {"MEMORY_HOME": str(tmp_path / ".memory")}):
        with pytest.raises(NoAddress, match="names a server elsewhere"):
            find_address(None, "typed", environment=environment, folder=folder)
    asked = find_address("http://x", None, environment={"STRATA_API_KEY": "ours"}, folder=folder)
    assert asked == Address("http://x", "ours")


def test_a_key_of_the_environment_goes_to_the_server_of_make_run(running: Path) -> None:
    found = find_address(None, None, environment={"STRATA_API_KEY": "ours"}, folder=running)
    assert found == Address(OURS, "ours")


def test_an_address_does_not_show_its_key() -> None:
    assert "secret" not in repr(Address("http://x", "secret"))


@pytest.mark.parametrize("width", [44, 80, 200])
def test_a_help_text_fits_and_is_never_too_wide_to_read(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for name in COMMANDS:
        with pytest.raises(SystemExit):
            parse([name, "--help"])
        assert max(map(len, capsys.readouterr().out.splitlines())) <= min(width, 100)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ConnectionFailed("x"), 3),
        (DeadlineExceeded(1), 3),
        (InvalidAnswer("x"), 3),
        (ServerError(503, "x"), 3),
        (NotFound(404, "x"), 1),
        (Forbidden(403, "x"), 4),
        (RateLimited(429, "x"), 4),
    ],
)
def test_each_kind_of_failure_has_its_status(error: StrataError, status: int) -> None:
    assert status_of(error) == status


def test_a_refusal_says_each_thing_once() -> None:
    whose = "Name a user_id or project: whose memories are meant?"
    once = Invalid(422, whose, errors=(FieldError("user_id", whose),))
    assert sentence_of(once) == f"The server refuses: {whose}"
    more = Invalid(422, "Wrong.", errors=(FieldError("top_k", "Too many."), FieldError("", "Odd.")))
    assert sentence_of(more) == "The server refuses: Wrong. (top_k: Too many.; Odd.)"


def test_without_a_key_it_says_how_to_name_one_and_with_a_wrong_one_that_it_is() -> None:
    without = sentence_of(Unauthenticated(401, f"Send an API key. {NO_KEY}"))
    assert without == "The server asks for a key, and none is named: use STRATA_API_KEY or --key."
    wrong = sentence_of(Unauthenticated(401, "The API key is not valid."))
    assert wrong == "The server does not take this key: The API key is not valid."


def test_moments_and_spans_read_well() -> None:
    assert moment("2026-03-01T09:30:12.5+02:00") == "2026-03-01 07:30"
    assert (moment("soon"), moment(None)) == ("soon", "")
    assert [span(one) for one in (5, 119, 120, 7_200, 172_800)] == ["5 s", "119 s", "2 min", "2 h", "2 days"]
