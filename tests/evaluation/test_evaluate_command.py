import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from memoryproject.evaluation import evaluating
from memoryproject.evaluation.evaluating import TUNED, USUAL
from memoryproject.evaluation.figures import NAMES
from memoryproject.management.commands import evaluate as command
from memoryproject.replay import files
from recall.ranking.weights import Weights
from tenants.models import Tenant
from tenants.router import admin_role


def evaluate(*arguments: object) -> str:
    out = io.StringIO()
    call_command("evaluate", *map(str, arguments), "--resamples", "100", stdout=out)
    return out.getvalue()


@pytest.fixture(scope="module")
def written(folder, tmp_path_factory, _database) -> Path:
    """Everything that one run prints and writes."""
    out = tmp_path_factory.mktemp("out")
    names = {"json": "figures.json", "markdown": "table.md", "plot": "plot.svg", "fit": "weights.json"}
    options = [part for option, name in names.items() for part in (f"--{option}", out / name)]
    (out / "printed").write_text(evaluate(folder, "--quiet", *options))
    return out


def test_the_json_has_the_usual_profiles_with_the_promised_figures(written):
    found = json.loads((written / "figures.json").read_text())
    assert list(found) == ["profiles"]
    assert tuple(found["profiles"]) == USUAL
    for one in found["profiles"].values():
        assert set(one) == {*NAMES, "by_category", "ci95", "questions"}
        assert one["questions"] == 3
        assert set(one["by_category"]) == {"1", "4", "5"}


def test_what_is_printed_is_the_markdown(written):
    printed, table = (written / "printed").read_text(), (written / "table.md").read_text()
    assert printed.endswith(table)
    assert [line.split("|")[1].strip() for line in table.splitlines()[2:6]] == list(USUAL)
    assert "2 conversations, 8 turns" in printed
    assert "1 questions have no usable evidence and are not asked." in printed


def test_the_plot_shows_every_profile(written):
    assert all(f">{profile}</text>" in (written / "plot.svg").read_text() for profile in USUAL)


def test_the_fitted_weights_can_be_read_and_say_where_they_come_from(written):
    document = json.loads((written / "weights.json").read_text())
    assert document["fitted_on"] == "3 questions about 2 conversations"
    held_out = json.loads((written / "figures.json").read_text())["profiles"][TUNED]
    assert document["leave_one_out"] == {name: held_out[name] for name in ("recall@10", "mrr")}
    assert Weights.read(written / "weights.json").names


def test_one_file_has_no_weights_of_others(folder, tmp_path):
    evaluate(folder / "trip.json", "--json", tmp_path / "all.json", "--fit", tmp_path / "fit.json")
    found = json.loads((tmp_path / "all.json").read_text())["profiles"]
    assert TUNED not in found
    assert found["hybrid"]["ci95"] == {}
    assert json.loads((tmp_path / "fit.json").read_text())["leave_one_out"] is None
    with pytest.raises(CommandError, match="at least two conversations"):
        evaluate(folder / "trip.json", "--profile", TUNED)


def test_a_file_without_questions_is_no_other_to_learn_from(folder, tmp_path):
    (tmp_path / "trip.json").write_text((folder / "trip.json").read_text())
    silent = [
        {"type": "session", "id": "s", "started_at": "2024-01-01T10:00:00Z"},
        {"type": "turn", "id": "1", "role": "user", "text": "Hello."},
    ]
    (tmp_path / "silent.jsonl").write_text("\n".join(map(json.dumps, silent)))
    evaluate(tmp_path, "--json", tmp_path / "all.out")
    assert list(json.loads((tmp_path / "all.out").read_text())["profiles"]) == [*USUAL[:-1]]


def test_profiles_are_chosen_each_once(folder, tmp_path):
    evaluate(folder, "--profile", "fused", "--profile", "fused", "--json", tmp_path / "all.json")
    assert list(json.loads((tmp_path / "all.json").read_text())["profiles"]) == ["fused"]


def test_progress_is_shown_on_standard_error_unless_quiet(folder, capfd):
    evaluate(folder, "--profile", "similarity")
    assert "8/8" in capfd.readouterr().err
    evaluate(folder, "--profile", "similarity", "--quiet")
    assert capfd.readouterr().err == ""


def test_files_that_cannot_be_understood_are_named(folder, tmp_path):
    (tmp_path / "fine.json").write_text((folder / "trip.json").read_text())
    (tmp_path / "odd.json").write_text("[]")
    with pytest.raises(CommandError, match=r"odd\.json: this must be a JSON object") as error:
        evaluate(tmp_path)
    assert error.value.returncode == 1


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (['{"type": "question", "question": "Who?", "evidence": []}'], "No question has evidence"),
        (
            [
                '{"type": "turn", "id": "2", "role": "user", "text": "a\\u0000b"}',
                '{"type": "question", "question": "Who?", "evidence": ["2"]}',
            ],
            "cannot be stored: .*NUL",
        ),
    ],
)
def test_conversations_that_cannot_be_measured_are_told_of(tmp_path, lines, told):
    begin = [
        '{"type": "session", "id": "s", "started_at": "2024-01-01T10:00:00Z"}',
        '{"type": "turn", "id": "1", "role": "user", "text": "Hello."}',
    ]
    (tmp_path / "odd.jsonl").write_text("\n".join(begin + lines))
    with pytest.raises(CommandError, match=told):
        evaluate(tmp_path)


@pytest.mark.parametrize("arguments", [["--profile", "best"], ["--resamples", "99"], ["--resamples", "many"]])
def test_wrong_arguments_are_refused(folder, arguments):
    with pytest.raises(CommandError):
        call_command("evaluate", str(folder), *arguments)


def test_a_folder_without_conversations_is_told_of(tmp_path):
    with pytest.raises(CommandError, match=r"no \.json or \.jsonl file"):
        evaluate(tmp_path)


def test_a_place_that_cannot_be_written_to_is_told_before_the_work(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "evaluate", None)
    with pytest.raises(CommandError, match="cannot be written"):
        evaluate(folder, "--json", tmp_path / "none" / "all.json")


@pytest.mark.parametrize(
    ("error", "told", "status"),
    [
        (OperationalError("connection refused"), r"database cannot be reached \(connection refused\)", 1),
        (KeyboardInterrupt(), "Stopped", 130),
    ],
)
def test_what_ends_it_in_the_middle_leaves_nothing(folder, monkeypatch, error, told, status):
    def fail(*args: object) -> None:
        raise error

    monkeypatch.setattr(evaluating, "ask", fail)
    with pytest.raises(CommandError, match=told) as found:
        evaluate(folder)
    assert found.value.returncode == status
    with admin_role():
        assert not Tenant.objects.filter(name__startswith="Evaluation").exists()


def test_the_bundled_case_can_be_evaluated_by_its_file(tmp_path):
    evaluate(files.BUNDLED, "--profile", "similarity", "--json", tmp_path / "all.json")
    found = json.loads((tmp_path / "all.json").read_text())["profiles"]["similarity"]
    assert (found["questions"], found["recall@10"]) == (20, 0.8)
