"""`manage.py evaluate --tenant`: a tenant's saved queries, asked of its memories as they are."""

import io
import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from episodic import keyword
from episodic.access import flush
from episodic.embedding import embed_pending
from episodic.episodes import store_episode
from episodic.models import Episode
from episodic.retraction import retract_episode
from episodic.types import NewEpisode
from ledger.cases import NewQuery, add_sampled
from ledger.feedback import Judged, put_feedback
from memoryproject.evaluation.figures import NAMES
from recall.case_runs import run_queries
from recall.saving_queries import save_query
from tenants.policy.versions import Level, write_policy
from tenants.scope import scope
from tests.isolation.tables import TENANT_MODELS
from tests.recall.talking import decide, episodes, run_jobs, tell
from tests.working.conversation import turn
from working.types import SessionAddress

FACTS = {
    "drink": "Ann drinks green tea in the morning.",
    "pet": "Ann has a dog called Rex.",
    "home": "Ann lives in Oslo.",
    "job": "Ann bakes bread in a shop on Mill Street.",
}
QUESTIONS = {
    "drink": "What does Ann drink?",
    "pet": "What is Ann's dog called?",
    "home": "Where is Ann's home?",
}


def evaluate(member, *arguments: object) -> str:
    out = io.StringIO()
    options = ("--resamples", "100", "--quiet")
    call_command("evaluate", "--tenant", member.tenant.slug, *map(str, arguments), *options, stdout=out)
    return out.getvalue()


def remember(member, text, user="ann", **more):
    new = NewEpisode(text=text, user_id=user, **more)
    return store_episode(caller=member.caller, new=new, now=timezone.now()).id


def save(member, text, *relevant, user="ann"):
    new = NewQuery(text, user_id=user, relevant=relevant)
    return save_query(caller=member.caller, new=new, now=timezone.now())


@pytest.fixture
def known(acme):
    """What is known of Ann, by name, with a labelled query for some of it."""
    found = {name: remember(acme, text) for name, text in FACTS.items()}
    for name, text in QUESTIONS.items():
        save(acme, text, found[name])
    return found


def rows(member) -> dict[str, int]:
    """How many rows each table has, and what the episodes say of themselves."""
    with scope(member.tenant.id):
        counts = {model.__name__: model.objects.count() for model in TENANT_MODELS}
        return counts | {"episodes": list(Episode.objects.order_by("id").values())}


def test_the_labelled_ones_are_measured_and_the_others_counted(acme, known, tmp_path):
    save(acme, "What else?")
    found = evaluate(acme, "--json", tmp_path / "all.json", "--plot", tmp_path / "plot.svg")
    assert "3 saved queries; 1 without labels and 0 whose episodes hold no more are not asked" in found
    assert "| hybrid " in found
    document = json.loads((tmp_path / "all.json").read_text())
    assert document["queries"] == {"asked": 3, "unlabelled": 1, "outdated": 0, "gone": 0}
    assert list(document["profiles"]) == ["hybrid", "similarity"]
    hybrid = document["profiles"]["hybrid"]
    assert set(hybrid) == {*NAMES, "by_category", "ci95", "questions"}
    assert (hybrid["questions"], hybrid["recall@5"], hybrid["mrr"]) == (3, 1.0, 1.0)
    assert ">hybrid</text>" in (tmp_path / "plot.svg").read_text()


def test_the_turn_that_a_query_was_sampled_from_does_not_count_against_it(acme, tmp_path):
    decide(acme.caller, episodes={"index_turns": True})
    fact, query = "I moved to Bergen in March to be with my sister.", "Where did I move to in March and why?"
    tell(acme.caller, turn("user", fact), address=SessionAddress("told", "ann"))
    for number in range(5):
        replies = turn("user", query), turn("assistant", f"Let me think, number {number}.")
        tell(acme.caller, *replies, address=SessionAddress(f"asked {number}", "ann"))
    run_jobs()
    embed_pending()
    answer = next(one.id for one in episodes(acme.caller, "message") if one.text == fact)
    with scope(acme.tenant.id):
        sampled = NewQuery(query, "ann", session="asked 0", relevant=(answer,), turn_id=uuid4())
        add_sampled(tenant_id=acme.tenant.id, queries=[sampled], now=timezone.now())
    evaluate(acme, "--profile", "hybrid", "--profile", "keyword", "--json", tmp_path / "all.json")
    profiles = json.loads((tmp_path / "all.json").read_text())["profiles"]
    assert {name: one["mrr"] for name, one in profiles.items()} == {"hybrid": 1.0, "keyword": 1.0}


def test_the_console_asks_a_query_of_a_project_as_it_is_asked_here(acme, known, tmp_path):
    new = NewQuery(QUESTIONS["home"], user_id="ann", project="kitchen", relevant=(known["home"],))
    saved = save_query(caller=acme.caller, new=new, now=timezone.now())
    evaluate(acme, "--profile", "hybrid", "--json", tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text())["profiles"]["hybrid"]["recall@5"] == 1.0
    (run,) = run_queries(caller=acme.caller, now=timezone.now(), query_id=saved.id)
    assert run.has_passed


def test_a_query_of_more_users_than_are_searched_by_words_is_measured_as_it_is_answered(
    acme, tmp_path, monkeypatch
):
    monkeypatch.setattr(keyword, "MOST_CORPORA", 2)
    ids = [remember(acme, f"Number {n} likes herring.", user=f"u{n}", agent_id="ada") for n in range(3)]
    new = NewQuery("Who likes herring?", agent_id="ada", relevant=tuple(ids))
    save_query(caller=acme.caller, new=new, now=timezone.now())
    evaluate(acme, "--profile", "hybrid", "--json", tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text())["profiles"]["hybrid"]["recall@5"] == 1.0


def test_nothing_is_left_behind(acme, known):
    before = rows(acme)
    evaluate(acme)
    flush()  # of figures of access, if there were any
    assert rows(acme) == before


def test_it_fails_below_the_mark_and_not_at_it(acme, known):
    evaluate(acme, "--least-recall", 1)
    missed = remember(acme, "Completely unrelated: the boiler is serviced each May.", user="bob")
    for number in range(21):
        remember(acme, f"Bob drinks tea number {number}.", user="bob")
    save(acme, "Which tea does Bob drink?", missed, user="bob")
    with pytest.raises(CommandError, match=r"recall@10 of similarity is 0\.750, below 0\.8\.") as error:
        evaluate(acme, "--profile", "similarity", "--least-recall", 0.8)
    assert error.value.returncode == 1


def test_the_policy_s_ranking_is_what_is_judged(acme, known):
    changes = {"recall": {"profile": "fused"}}
    write_policy(level=Level(acme.tenant.id), actor="test", changes=changes)
    assert [line.split("|")[1].strip() for line in evaluate(acme).splitlines()[3:]] == ["fused", "similarity"]


def test_labels_that_hold_no_more_are_left_out_and_told_of(acme, known):
    save(acme, "What of Ann?", known["drink"], known["pet"])
    retract_episode(caller=acme.caller, episode_id=known["pet"], now=timezone.now())
    told = evaluate(acme).splitlines()[0]
    assert told.startswith("3 saved queries; 0 without labels and 1 whose episodes hold no more")
    assert "1 other labels are left out" in told


def test_without_labels_there_is_nothing_to_measure(acme):
    save(acme, "What does Ann drink?")
    with pytest.raises(CommandError, match="None of the 1 saved queries has labels"):
        evaluate(acme)


def test_another_tenant_s_are_not_asked(acme, globex, known):
    with pytest.raises(CommandError, match="None of the 0 saved queries"):
        evaluate(globex)


@pytest.mark.parametrize("arguments", [
    ["--tenant", "no-such-tenant"], [], ["--tenant", "a", "somewhere"], ["somewhere", "--trial"],
    ["somewhere", "--least-recall", "0.5"], ["--tenant", "a", "--fit", "weights.json"],
    ["--tenant", "a", "--profile", "hybrid-loo"], ["--tenant", "a", "--least-recall", "2"],
    ["--tenant", "a", "--trial", "--profile", "hybrid"],
])  # fmt: skip
def test_what_does_not_go_together_is_told(arguments):
    with pytest.raises(CommandError):
        call_command("evaluate", *arguments)


def test_how_a_trial_stands_is_told_as_a_table(acme, tmp_path):
    assert evaluate(acme, "--trial") == "There is no trial: `trial.share` of the policy is 0.\n"
    trial = {"share": 0.25, "profile": "fused"}
    write_policy(level=Level(acme.tenant.id), actor="test", changes={"trial": trial})
    for variant, verdict, count in (("control", "not_helpful", 2), ("treatment", "helpful", 3)):
        for number in range(count):
            judged = Judged("episode", f"{variant}{number}", "ann", session=str(number), variant=variant)
            now = timezone.now() + timedelta(seconds=1)
            put_feedback(caller=acme.caller, judged=judged, verdict=verdict, note="", now=now)
    told = evaluate(acme, "--trial", "--json", tmp_path / "trial.json")
    assert '25% of the sessions recall by {"profile": "fused"}' in told
    assert "| control   |        0 |          0 |        2 |       0 | 0.000 (0.000 to 0.658) |" in told
    assert "Difference: 1.000" in told
    document = json.loads((tmp_path / "trial.json").read_text())
    assert document["variants"]["treatment"]["helpful_rate"] == 1.0
