"""A trial: a share of the sessions recalls by a second setting, and verdicts are compared."""

import pytest
from django.utils import timezone

from ledger.models import Feedback, Injection
from recall.feedback import NewFeedback, give_feedback
from recall.trials import variant_of
from tenants.errors import Invalid
from tenants.policy.reading import read_policy
from tenants.policy.versions import Level, write_policy
from tenants.scope import scope
from tests.native.shapes import problem
from tests.native.test_assemble import assemble, say
from tests.native.test_feedback import episode, judged
from tests.native.test_recall import ask

URL = "/api/v1/evaluation/trial"
VARIANTS = ("control", "treatment")


def begin(member, share=0.5, **setting):
    """Decided before the server has asked for the tenant's policy."""
    trial = {"share": share, "profile": "similarity"} | setting
    write_policy(level=Level(member.tenant.id), actor="test", changes={"trial": trial})


@pytest.fixture
def tried(acme):
    """Acme, half of whose sessions recall by likeness alone."""
    begin(acme)
    return acme


def unit(member, variant, *, of="session", user="ann"):
    """The name of a session of the user, or of a user, that has this setting."""
    policy = read_policy(tenant_id=member.tenant.id)
    names = (f"{of}-{n}" for n in range(200))
    named = (
        (one, {"session": one, "user_id": user} if of == "session" else {"user_id": one}) for one in names
    )
    return next(one for one, who in named if variant_of(policy, tenant_id=member.tenant.id, **who) == variant)


def standing(member):
    answer = member.with_key(scopes=("read", "admin")).http.get(URL)
    assert answer.status_code == 200, answer.text
    return answer.json()


def rows(member, model):
    with scope(member.tenant.id):
        return list(model.objects.order_by("id"))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_session_s_setting_recalls_and_is_noted_with_what_it_told(tried, variant):
    memory, session = episode(tried), unit(tried, variant)
    found = assemble(tried, session=session)
    names = [one["name"] for one in found["stages"]]
    assert ("words" in names) == (variant == "control"), "likeness alone looks for no words"
    (told,) = rows(tried, Injection)
    assert (told.item_key, told.variant) == (f"episode:{memory}", variant)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_query_without_a_session_has_the_setting_of_its_user_and_says_so(tried, variant):
    user = unit(tried, variant, of="user")
    memory = episode(tried, user_id=user)
    (hit,) = ask(tried, user_id=user, explain=True)["results"]
    formula = {"control": "words", "treatment": "score = cosine"}[variant]
    assert formula in hit["explain"]["formula"]
    assert (hit["id"], hit["explain"]["variant"]) == (memory, variant)


@pytest.mark.parametrize("named", [
    {"profile": "similarity"}, {"profile": "hybrid"}, {"mode": "semantic"}, {"alpha": 0.5}, {"decay": 1},
])  # fmt: skip
def test_a_query_that_names_its_ranking_is_in_no_trial(tried, named):
    user = unit(tried, "treatment", of="user")
    episode(tried, user_id=user)
    (hit,) = ask(tried, user_id=user, explain=True, **named)["results"]
    assert hit["explain"]["variant"] is None


def test_without_a_trial_nothing_is_noted(acme):
    memory = episode(acme)
    assemble(acme)
    judged(acme, memory, session_id="s")
    assert ask(acme, user_id="ann", explain=True)["results"][0]["explain"]["variant"] is None
    assert [one.variant for one in (*rows(acme, Injection), *rows(acme, Feedback))] == ["", ""]
    found = standing(acme)
    assert {found[name] for name in ("share", "version", "since", "difference")} == {0, None}
    nothing = {
        "sessions": 0,
        "injections": 0,
        "verdicts": 0,
        "helpful": 0,
        "helpful_rate": None,
        "ci95": None,
    }
    assert found["variants"] == dict.fromkeys(VARIANTS, nothing)


def test_what_nobody_ranked_is_not_noted(tried):
    tried.http.put("/api/v1/entities/ann/city", json={"value": "Oslo"}).raise_for_status()
    assemble(tried)
    assert [one.variant for one in rows(tried, Injection)] == [""]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_verdict_has_the_setting_of_the_injection_it_names(tried, variant):
    episode(tried)
    assemble(tried, session=unit(tried, variant))
    (told,) = rows(tried, Injection)
    body = {"injection_id": str(told.id), "verdict": "helpful"}
    tried.http.post("/api/v1/feedback", json=body).raise_for_status()
    assert [one.variant for one in rows(tried, Feedback)] == [variant]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_verdict_has_the_setting_that_told_its_session_also_after_its_end(tried, variant):
    memory, session = episode(tried), unit(tried, variant)
    assemble(tried, session=session)
    tried.http.post(f"/api/v1/sessions/{session}/end?user_id=ann").raise_for_status()
    judged(tried, memory, session_id=session)
    assert [one.variant for one in rows(tried, Feedback)] == [variant]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_verdict_that_names_no_session_has_the_setting_of_the_user(tried, variant):
    user = unit(tried, variant, of="user")
    judged(tried, episode(tried, user_id=user))
    assert [one.variant for one in rows(tried, Feedback)] == [variant]


@pytest.mark.parametrize(("session", "expected"), [("treatment", "treatment"), ("control", "")])
def test_where_a_session_was_not_told_it_both_must_have_the_same_setting(tried, session, expected):
    user = unit(tried, "treatment", of="user")
    memory = episode(tried, user_id=user)
    judged(tried, memory, session_id=unit(tried, session, user=user))
    assert [one.variant for one in rows(tried, Feedback)] == [expected]


def test_verdicts_about_slots_are_in_no_trial(tried):
    answer = tried.http.put("/api/v1/entities/ann/city", json={"value": "Oslo"})
    judged(tried, answer.json()["id"], kind="entity")
    assert [one.variant for one in rows(tried, Feedback)] == [""]


def test_how_it_stands_is_told_by_setting(tried):
    memory = episode(tried)
    for variant, verdicts in (("control", ["not_helpful", "helpful"]), ("treatment", ["helpful"])):
        session = unit(tried, variant)
        say(tried, "Hello.", session=session)
        assemble(tried, session=session)
        for number, verdict in enumerate(verdicts):
            judge = tried if number else tried.with_key(user_id="ann")
            new = NewFeedback(verdict, kind="episode", memory_id=memory, session_id=session)
            give_feedback(caller=judge.caller, new=new, now=timezone.now())
    found = standing(tried)
    assert (found["share"], found["setting"], found["version"]) == (0.5, {"profile": "similarity"}, 1)
    assert found["since"] is not None
    counted = ("sessions", "injections", "verdicts", "helpful", "helpful_rate")
    control, treatment = ([found["variants"][one][name] for name in counted] for one in VARIANTS)
    assert (control, treatment) == ([1, 1, 2, 1, 0.5], [1, 1, 1, 1, 1.0])
    assert found["difference"]["helpful_rate"] == 0.5
    low, high = found["difference"]["ci95"]
    assert low < 0.5 <= high


def test_another_setting_begins_another_trial_and_other_decisions_do_not(tried):
    memory, session = episode(tried), unit(tried, "treatment")
    assemble(tried, session=session)
    judged(tried, memory, session_id=session)
    level = Level(tried.tenant.id)
    write_policy(level=level, actor="test", changes={"working": {"turns": 3}})
    assert standing(tried)["version"] == 1
    assert standing(tried)["variants"]["treatment"]["verdicts"] == 1
    write_policy(level=level, actor="test", changes={"recall": {"decay": 0.5}})
    found = standing(tried)
    assert (found["version"], found["variants"]["treatment"]["verdicts"]) == (3, 0)


def test_the_figures_are_the_operator_s(tried, globex):
    problem(tried.http.get(URL), 403)
    for bound in ({"user_id": "ann"}, {"agent_id": "coder"}, {"project": "apollo"}):
        problem(tried.with_key(scopes=("read", "admin"), **bound).http.get(URL), 403)
    assert standing(globex)["share"] == 0


def test_an_agent_has_no_trial_of_its_own(acme):
    with pytest.raises(Invalid, match="Only the tenant decides this"):
        write_policy(level=Level(acme.tenant.id, "coder"), actor="test", changes={"trial": {"share": 0.5}})
