import io
import json
import re

import pytest
from django.core.management import CommandError, call_command

from memoryproject.replay import files
from providers.embeddings import get_embedder
from tests.replay.fake_server import FakeStrata


@pytest.fixture
def cosine(strata: FakeStrata) -> FakeStrata:
    """A server that ranks as it should, embedding one text at a time as the real one does."""
    known = {}

    def vector(text):
        if text not in known:
            known[text] = get_embedder().embed([text])[0]
        return known[text]

    strata.rank = lambda query, texts: [float(vector(query) @ vector(text)) for text in texts]
    return strata


@pytest.fixture
def replay(no_server, strata):
    """Runs the command against the fake server and returns its standard output."""
    (no_server / "run.json").write_text(json.dumps({"url": strata.url, "api_key": strata.api_key}))

    def run(*arguments: str) -> str:
        out = io.StringIO()
        try:
            call_command("replay", "--profile", "similarity", *arguments, stdout=out)
        finally:
            run.last = out.getvalue()
        return run.last

    return run


def test_the_bundled_case_is_played_and_equals_exact_cosine(cosine, replay):
    text = replay("--bundled")
    assert "for user support-case at http://127.0.0.1:" in text
    assert "95 stored and 6 sessions ended" in text
    assert "What is the shop's address now?" in text
    assert "Equal: recall found as much evidence as exact cosine in all 20 questions." in text
    assert re.search(r"turns/s\)", text)
    assert re.search(r"questions/s\)", text)
    recall, exact = re.search(r"^overall +20 +(\S+) +\S+ +\S+ +(\S+)$", text, re.M).groups()
    assert recall == exact


def test_a_second_run_says_that_it_skipped_everything(cosine, replay):
    replay("--bundled", "--quiet")
    count = len(cosine.episodes)
    assert "Skipped 95 turns and 6 session ends" in replay("--bundled", "--quiet")
    assert len(cosine.episodes) == count


def test_a_server_that_ranks_otherwise_ends_with_an_error(strata, replay):
    with pytest.raises(CommandError, match="differ") as error:
        replay("--bundled")
    assert error.value.returncode == 1
    assert re.search(r"Different: .* in \d+ of 20 questions: ", replay.last)


def test_without_check_nothing_is_compared(strata, replay):
    text = replay("--bundled", "--no-check")
    assert "exact" not in text
    assert "Equal" not in text


def test_evidence_is_marked_and_lines_keep_to_the_terminal(cosine, replay, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    lines = replay("--bundled", "--show", "2").splitlines()
    hits = [line for line in lines if re.match(r" [ *] +\d+  ", line)]
    assert len(hits) == 2 * 20
    assert any(line.startswith(" * ") for line in hits)
    assert any(line.startswith("   ") for line in hits)
    assert all(len(line) <= 100 for line in hits)
    assert len({line.index("support-case-s") for line in hits}) == 1


def test_output_that_is_not_a_terminal_has_no_colours_unless_forced(cosine, replay):
    assert "\x1b" not in replay("--bundled", "--questions", "2")
    assert "\x1b[1m1. " in replay("--bundled", "--questions", "2", "--force-color")


def test_quiet_prints_figures_only_and_no_progress(cosine, replay, capfd):
    text = replay("--bundled", "--quiet", "--questions", "3")
    assert "What is" not in text
    assert "Asked 3 questions" in text
    assert capfd.readouterr().err == ""


def test_progress_is_shown_on_standard_error(cosine, replay, capfd):
    replay("--bundled", "--questions", "1")
    assert "95/95" in capfd.readouterr().err


def test_no_questions_are_no_failure(cosine, replay):
    assert "Asked 0 questions" in replay("--bundled", "--questions", "0")


def test_everything_is_written_as_json(cosine, replay, tmp_path):
    replay("--bundled", "--quiet", "--json", str(tmp_path / "all.json"))
    found = json.loads((tmp_path / "all.json").read_text())
    assert found["comparison"]["equal"] is True
    assert found["overall"]["questions"] == len(found["questions"]) == 20
    assert found["played"]["stored"] == 95
    assert len(found["questions"][0]["hits"]) == len(found["questions"][0]["exact"]) == 10
    assert cosine.api_key not in (tmp_path / "all.json").read_text()


def test_a_file_that_cannot_be_written_is_said(cosine, replay, tmp_path):
    with pytest.raises(CommandError, match="cannot be written"):
        replay("--bundled", "--quiet", "--json", str(tmp_path / "none" / "all.json"))


def test_odd_evidence_and_categories_are_reported(cosine, replay, tmp_path):
    replay_file = tmp_path / "odd.jsonl"
    records = [
        {"type": "session", "id": "s", "started_at": "2024-01-01T10:00:00Z"},
        {"type": "turn", "id": "1", "role": "user", "text": "The ferry \x1b[31mleaves\n at noon."},
        {"type": "question", "question": "When?", "answer": "noon", "evidence": ["1", "7"], "category": 2},
        {"type": "question", "question": "Why?", "evidence": ["1"], "category": 5},
        {"type": "question", "question": "Who?", "evidence": []},
    ]
    replay_file.write_text("\n".join(json.dumps(record) for record in records))
    text = replay(str(replay_file))
    assert "1 evidence entries name no turn of it and are left out: '7'." in text
    assert "1 questions have no usable evidence" in text
    assert re.search(r"^category 5 \(left out\) +1 ", text, re.M)
    assert re.search(r"^overall +1 ", text, re.M)
    assert "user: The ferry [31mleaves at noon." in text


def test_results_are_shown_even_when_no_model_can_be_loaded_here(strata, replay, settings):
    settings.EMBEDDING_MODEL = "unknown"
    from providers.embeddings import reset_embedder

    reset_embedder()
    try:
        with pytest.raises(CommandError, match="Exact cosine cannot be computed"):
            replay("--bundled")
    finally:
        reset_embedder()
    assert "What is the shop's address now?" in replay.last


def test_nothing_running_ends_with_one_sentence(no_server):
    with pytest.raises(CommandError, match="No running Strata found: start it with `make run`") as error:
        call_command("replay", "--bundled")
    assert error.value.returncode == 1


def test_a_server_that_goes_away_in_the_middle_ends_with_one_sentence(strata, replay):
    strata.cut_after = 30
    with pytest.raises(CommandError, match=r"lost during .*; run it again to go on from there\."):
        replay("--bundled", "--quiet")


@pytest.mark.parametrize("arguments", [[], ["--bundled", "other.jsonl"], ["--bundled", "--questions", "-1"]])
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(CommandError):
        call_command("replay", *arguments)


def test_the_help_describes_the_format():
    from django.core.management import load_command_class

    text = load_command_class("memoryproject", "replay").create_parser("manage.py", "replay").format_help()
    for kind in ("conversation", "session", "turn", "question"):
        assert f'{{"type": "{kind}"' in text


def test_the_bundled_file_is_what_make_demo_plays(cosine, replay):
    replay("--bundled", "--quiet", "--questions", "0")
    assert len(cosine.turns) == len(files.load(files.BUNDLED).sessions)
