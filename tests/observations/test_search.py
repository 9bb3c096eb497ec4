from tests.observations.notes import embed, note, search, titles

ANSWER = "Set REST_POOL_SIZE to 40; the default of 10 connections ran dry under load."


def fill(acme):
    note(acme.caller, ANSWER, title="REST pool size raised", type="config")
    note(acme.caller, "Deploys to staging run every night.", title="Staging deploys")
    note(acme.caller, "The payments queue lost messages when the broker restarted.", title="Lost messages")
    embed(acme.caller)


def test_a_question_finds_the_observation_that_answers_it(acme):
    fill(acme)
    for mode in (None, "any", "hybrid"):
        hits = search(acme.caller, "how do I set the pool size for REST?", mode=mode)
        assert titles(hits)[0] == "REST pool size raised"
        assert hits[0].rank < 0


def test_all_words_must_be_there(acme):
    fill(acme)
    assert titles(search(acme.caller, "staging deploys", mode="all")) == ["Staging deploys"]
    assert search(acme.caller, "staging payments", mode="all") == []
