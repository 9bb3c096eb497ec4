"""`GET /search`"""

import pytest

from tests.agentops.shapes import get, refused, save

QUESTION = "how do I set the pool size for REST?"
POOL = "Set REST_POOL_SIZE in the deployment: the REST client keeps that many connections in its pool."


@pytest.fixture
def corpus(acme):
    """The answer among other observations."""
    for number in range(8):
        save(
            acme,
            title=f"Deploy {number}",
            content=f"We deploy service {number} to the blue cluster on Mondays.",
        )
    save(acme, type="bugfix", title="Encoding", content="Umlauts broke: the CSV was read as Latin-1.")
    save(acme, title="REST pool size", content=POOL, topic_key="rest/pool-size", tags=["rest"])
    return acme


def titles(member, q, **query):
    return [one["title"] for one in get(member, "/search", q=q, **{"project": "orders"} | query)]


def test_a_result_is_told_in_full(corpus):
    (hit,) = get(corpus, "/search", q="REST pool", project="orders")
    assert list(hit) == ["id", "type", "title", "content", "rank", "topic_key"]
    assert (hit["content"], hit["topic_key"]) == (POOL, "rest/pool-size")
    assert type(hit["id"]) is int
    assert hit["rank"] < 0


def test_contents_are_not_cut(acme):
    save(acme, content="pool " * 1_000)
    (hit,) = get(acme, "/search", q="pool", project="orders")
    assert len(hit["content"]) == 5_000


@pytest.mark.parametrize("mode", [{}, {"match_mode": "hybrid"}, {"match_mode": "any"}])
def test_a_question_finds_what_answers_it(corpus, mode):
    assert titles(corpus, QUESTION, **mode)[0] == "REST pool size"


def test_every_word_has_to_be_there_where_that_is_asked(corpus):
    assert titles(corpus, QUESTION, match_mode="all") == []
    assert titles(corpus, "pool REST", match_mode="all") == ["REST pool size"]


def test_ranks_ascend(corpus):
    ranks = [one["rank"] for one in get(corpus, "/search", q="blue cluster pool", match_mode="any")]
    assert ranks == sorted(ranks)
    assert len(ranks) == 9


@pytest.mark.parametrize("q", ["pools", "POOL", "pool-size", "connection", "umlaut", "latin", "bugfix"])
def test_words_are_found_in_other_forms_and_in_type_and_topic(corpus, q):
    assert titles(corpus, q)


def test_diacritics_do_not_matter(acme):
    save(acme, title="Café", content="Crème brûlée")
    assert titles(acme, "cafe creme") == titles(acme, "CAFÉ") == ["Café"]


def test_part_of_a_topic_key_comes_first(corpus):
    save(corpus, title="Mentions it", content="See rest/pool-size about the rest pool size.")
    hits = get(corpus, "/search", q="rest/pool", project="orders")
    assert (hits[0]["title"], hits[0]["rank"]) == ("REST pool size", -1000)
    assert [one["title"] for one in hits] == ["REST pool size", "Mentions it"]
    assert len(get(corpus, "/search", q="rest/pool", project="orders", limit=1)) == 1


@pytest.mark.parametrize("q", ["", "   ", "?", "!!! ... ?", '"', "*"])
def test_a_query_without_words_finds_nothing(corpus, q):
    assert get(corpus, "/search", q=q, project="orders") == []


@pytest.mark.parametrize(
    "q", ['"pool', "pool*", "NEAR(pool)", "pool AND", "-pool", "(pool", "'pool'", "pool:*&|!"]
)
def test_no_query_is_a_syntax_error(corpus, q):
    assert corpus.http.get("/search", params={"q": q, "project": "orders"}).status_code == 200


def test_filters_and_limit(corpus):
    assert titles(corpus, "pool deploy umlauts", match_mode="any", type="bugfix") == ["Encoding"]
    assert titles(corpus, "pool", scope="global") == []
    assert len(titles(corpus, "cluster", limit=3)) == 3
    assert len(titles(corpus, "cluster", limit="x")) == 8


def test_without_a_project_all_are_searched(corpus, globex):
    save(corpus, project="other", title="Other", content="Another pool.")
    assert sorted(titles(corpus, "pool", project="")) == ["Other", "REST pool size"]
    assert titles(globex, "pool", project="") == []
    assert titles(corpus.with_key(project="other"), "pool", project="") == ["Other"]


def test_a_mode_that_does_not_exist_is_400(acme):
    refused(
        acme.http.get("/search", params={"q": "a", "match_mode": "some"}),
        400,
        "match_mode: Must be one of all, any, hybrid.",
    )


@pytest.mark.parametrize("q", [b"%FFpool", b"pool%E2%82", b"caf%C3", b"%ED%A0%80%20pool"])
def test_a_query_that_is_not_utf_8_is_tolerated(corpus, q):
    url = corpus.http.base_url.copy_with(raw_path=b"/search?project=orders&match_mode=any&q=" + q)
    assert corpus.http.get(url).status_code == 200


def test_text_that_cannot_be_stored_is_400(acme):
    refused(acme.http.get("/search?q=a&type=%00"), 400)
    refused(acme.http.get("/search?q=a&project=%00"), 400)
