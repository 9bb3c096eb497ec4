"""Search by words, by meaning and by topic: what is found, and in what order."""

from datetime import timedelta

import pytest

from observations import keyword
from providers.embeddings import reset_embedder
from tests.observations.notes import EARLY, embed, fill, note, search, titles

ANSWER = "Set REST_POOL_SIZE to 40; the default of 10 connections ran dry under load."


@pytest.fixture
def notes(caller):
    note(caller, ANSWER, title="REST pool size raised", type="config")
    note(caller, "Deploys to staging run every night.", title="Staging deploys")
    note(caller, "The payments queue lost messages when the broker restarted.", title="Lost messages")
    embed(caller)


def found(caller, text, **more):
    return sorted(titles(search(caller, text, **more)))


@pytest.mark.parametrize("mode", [None, "any", "hybrid"])
def test_a_question_finds_the_observation_that_answers_it(caller, notes, mode):
    hits = search(caller, "how do I set the pool size for REST?", mode=mode)
    assert titles(hits)[0] == "REST pool size raised"
    assert [hit.rank for hit in hits] == sorted(hit.rank for hit in hits)
    assert hits[0].rank < 0


def test_all_words_must_be_there(caller, notes):
    assert titles(search(caller, "staging deploys", mode="all")) == ["Staging deploys"]
    assert search(caller, "staging payments", mode="all") == []
    assert search(caller, "how do I set the pool size for REST?", mode="all") == []


def test_any_word_will_do_if_it_is_no_stop_word(caller, notes):
    assert found(caller, "staging payments", mode="any") == ["Lost messages", "Staging deploys"]
    assert titles(search(caller, "when is the staging", mode="any")) == ["Staging deploys"]


def test_a_query_of_stop_words_finds_what_holds_them(caller, notes):
    assert titles(search(caller, "to", mode="all")) != []
    assert titles(search(caller, "when the", mode="any"))[0] == "Lost messages"


def test_meaning_is_found_where_no_word_is(caller, notes):
    hits = search(caller, "outage of RabbitMQ", mode="hybrid")
    assert titles(hits)[0] == "Lost messages"
    assert {hit.method for hit in hits} == {"hybrid"}
    assert search(caller, "outage of RabbitMQ", mode="any") == []


def test_by_default_meaning_is_asked_only_when_the_words_are_nowhere(caller, notes):
    assert {hit.method for hit in search(caller, "staging deploys")} == {"bm25"}
    assert {hit.method for hit in search(caller, "outage of RabbitMQ")} == {"hybrid"}


@pytest.mark.parametrize("mode", [None, "all", "any", "hybrid"])
def test_words_that_mean_nothing_find_nothing(caller, notes, mode):
    assert search(caller, "xyzzy plugh", mode=mode) == []


@pytest.mark.parametrize("mode", [None, "all", "any", "hybrid"])
@pytest.mark.parametrize("text", ["", " \n", "?", "!! -- ++", "/", "'", "\\", "_"])
def test_a_query_without_words_finds_nothing(caller, notes, mode, text):
    assert search(caller, text, mode=mode) == []


BROKEN = ("\ud800", "\x00", "\ufffd")
SIGNS = ("'; DROP TABLE x; --", "x & | ! <-> b:*", "back\\slash", "q'uote", "%s %(x)s {}", *BROKEN)


@pytest.mark.parametrize("mode", [None, "all", "any", "hybrid"])
@pytest.mark.parametrize("text", SIGNS, ids=ascii)
def test_signs_of_a_query_language_and_broken_characters_are_only_signs(caller, notes, mode, text):
    for tail in ("", " staging", "/x"):
        hits = search(caller, f"{text}{tail}", mode=mode)
        assert tail != " staging" or mode in (None, "all") or "Staging deploys" in titles(hits)


def test_without_the_model_hybrid_goes_by_the_words(caller, notes, model_away, caplog):
    assert found(caller, "staging payments", mode="hybrid") == ["Lost messages", "Staging deploys"]
    assert search(caller, "outage of RabbitMQ") == []
    assert "search_by_meaning_skipped" in caplog.text
    assert "RabbitMQ" not in caplog.text
    reset_embedder()
    assert titles(search(caller, "outage of RabbitMQ"))[0] == "Lost messages"


def test_a_word_of_several_parts_is_a_phrase(caller):
    note(caller, "Mind the pool-size.", title="a")
    note(caller, "The size of the pool.", title="b")
    assert titles(search(caller, "pool-size", mode="all")) == ["a"]
    assert found(caller, "pool size", mode="all") == ["a", "b"]
    assert found(caller, "pool_size", mode="all") == ["a"]


def test_no_phrase_spans_two_fields(caller):
    note(caller, "size matters.", title="The pool")
    assert search(caller, "pool-size", mode="all") == []
    assert len(search(caller, "pool size", mode="all")) == 1


def test_words_are_stemmed_and_folded(caller):
    note(caller, "Crème brûlée für Straße", title="a")
    note(caller, "connections were refused", title="b")
    for text in ("creme BRULEE", "FUR", "strasse", "crèmes"):
        assert titles(search(caller, text, mode="all")) == ["a"], text
    for text in ("connection", "refusing", "CONNECTED"):
        assert titles(search(caller, text, mode="all")) == ["b"], text


def test_scripts_without_spaces_are_found(caller):
    note(caller, "数据库连接池的大小", title="zh")
    note(caller, "東京都の天気", title="ja")
    note(caller, "데이터베이스를 다시 시작", title="ko")
    note(caller, "ฐานข้อมูล", title="th")
    for text, title in (("数据库", "zh"), ("连接", "zh"), ("東京", "ja"), ("데이터", "ko"), ("ข้อมูล", "th")):
        assert titles(search(caller, text, mode="all")) == [title], text
    assert search(caller, "京東", mode="all") == []


def test_type_and_topic_are_words_too(caller):
    note(caller, "x", title="a", type="bugfix", topic_key="auth/token-refresh")
    for text in ("bugfix", "refresh", "auth", "token-refresh"):
        assert titles(search(caller, text, mode="all")) == ["a"]


def test_a_rare_word_counts_more_than_a_frequent_one(caller):
    fill(caller, ["common word"] * 20 + ["common rare"])
    assert search(caller, "common rare", mode="any", limit=1)[0].observation.content == "common rare"


def test_equal_ranks_come_newest_number_first(caller):
    rows = fill(caller, ["same"] * 12)
    hits = search(caller, "same", limit=5)
    assert [hit.observation.id for hit in hits] == [row.id for row in reversed(rows)][:5]
    assert len({hit.rank for hit in hits}) == 1


def test_the_limit_is_kept_and_the_best_are_told(caller):
    fill(caller, [f"word {'filler ' * n}" for n in range(300)])
    hits = search(caller, "word", limit=7)
    assert [hit.observation.content.count("filler") for hit in hits] == list(range(7))
    assert len(search(caller, "word", limit=1_000)) == 300
    assert search(caller, "word", limit=0) == []


class TestTopics:
    def test_a_slash_asks_for_topics_that_contain_the_text(self, caller):
        note(caller, "x", title="a", topic_key="auth/token", now=EARLY)
        note(caller, "y", title="b", topic_key="deep/auth/token/refresh", now=EARLY + timedelta(1))
        note(caller, "The auth/token of staging.", title="c")
        hits = search(caller, "auth/token", mode="all")
        assert titles(hits) == ["b", "a", "c"]
        assert [(hit.method, hit.rank < -999) for hit in hits] == [
            ("topic_key", True), ("topic_key", True), ("bm25", False),
        ]  # fmt: skip

    def test_the_limit_counts_topics_and_words_together(self, caller):
        for n in range(4):
            note(caller, f"x{n}", title=f"t{n}", topic_key=f"auth/{n}")
        note(caller, "auth/ here", title="words")
        assert len(search(caller, "auth/", limit=3)) == 3
        assert titles(search(caller, "auth/", limit=5))[-1] == "words"

    def test_signs_of_patterns_are_literal(self, caller):
        note(caller, "x", title="a", topic_key="rate/50%_off")
        note(caller, "y", title="b", topic_key="rate/50xxoff")
        assert titles(search(caller, "rate/50%_off", mode="all"))[0] == "a"
        for text in ("rate/%", "rate/__", "rate/50_"):
            assert [hit for hit in search(caller, text) if hit.method == "topic_key"] == [], text

    def test_case_and_space_around_do_not_count(self, caller):
        note(caller, "x", title="a", topic_key="Auth/Token")
        assert search(caller, " auth/TOKEN ")[0].method == "topic_key"

    def test_only_what_the_filter_means(self, caller):
        note(caller, "x", title="a", topic_key="a/b", type="bugfix")
        note(caller, "y", title="b", topic_key="a/b", project="billing")
        note(caller, "z", title="c", topic_key="a/b", project="stock", scope="global")
        assert found(caller, "a/b") == ["a", "c"]
        assert found(caller, "a/b", project=None) == ["a", "b", "c"]
        assert found(caller, "a/b", type="decision") == ["c"]
        assert found(caller, "a/b", scope="global") == ["c"]


class TestFilters:
    @pytest.fixture
    def mixed(self, caller):
        note(caller, "word one", title="a", type="bugfix", tags=("x", "y"), session_id="s9", now=EARLY)
        note(caller, "word two", title="b", tags=("y",), scope="team", now=EARLY + timedelta(1))
        note(caller, "word three", title="c", user_id="ann", session_id="s3", now=EARLY + timedelta(2))
        note(caller, "word four", title="d", scope="global", project="billing", now=EARLY + timedelta(3))
        note(caller, "word five", title="e", project="billing", now=EARLY + timedelta(4))
        embed(caller)

    @pytest.mark.parametrize("mode", [None, "all", "any", "hybrid"])
    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ({}, "abcd"),
            ({"project": "Orders "}, "abcd"),
            ({"project": None}, "abcde"),
            ({"project": "stock"}, "d"),
            ({"type": "bugfix"}, "a"),
            ({"tags": ("y",)}, "ab"),
            ({"tags": ("y", "x")}, "a"),
            ({"tags": ("y' OR", "%s")}, ""),
            ({"session_id": "s9"}, "a"),
            ({"user_id": "ann"}, "c"),
            ({"scope": "team"}, "b"),
            ({"scope": "project"}, "ac"),
            ({"scope": "global"}, "d"),
            ({"scope": "global", "project": None}, "d"),
            ({"scope": "project", "project": None}, "ace"),
            ({"since": EARLY + timedelta(1)}, "bcd"),
            ({"until": EARLY + timedelta(1)}, "ab"),
            ({"since": EARLY + timedelta(1), "until": EARLY + timedelta(2), "tags": ("y",)}, "b"),
        ],
    )
    def test_every_filter_narrows_every_mode(self, caller, mixed, mode, where, expected):
        assert "".join(found(caller, "word", mode=mode, **where)) == expected


class TestManyProjects:
    @pytest.fixture
    def projects(self, caller):
        for n in range(7):
            fill(caller, [f"word {'rare ' * (n % 3)}{'filler ' * n}"] * (n + 1), project=f"p{n}")
        fill(caller, ["word everywhere"], project="p0", scope="global")

    @pytest.mark.parametrize("mode", ["all", "any"])
    @pytest.mark.parametrize("at_once", [1, 2, 3])
    def test_asked_in_pieces_the_answer_is_the_same(self, caller, projects, monkeypatch, mode, at_once):
        text = {"all": "word", "any": "word rare"}[mode]
        whole = search(caller, text, project=None, mode=mode, limit=50)
        assert len(whole) == sum(range(8)) + 1
        monkeypatch.setattr(keyword, "CORPORA_AT_ONCE", at_once)
        pieces = search(caller, text, project=None, mode=mode, limit=50)
        assert [hit.observation.id for hit in pieces] == [hit.observation.id for hit in whole]
        assert [hit.rank for hit in pieces] == pytest.approx([hit.rank for hit in whole], rel=1e-12)

    def test_a_tenant_without_any_finds_nothing(self, caller):
        for mode in (None, "all", "any", "hybrid"):
            assert search(caller, "word a/b", project=None, mode=mode) == []

    def test_more_projects_than_are_asked_at_once(self, caller):
        fill(caller, ["word one"])
        for n in range(keyword.CORPORA_AT_ONCE // 20 + 1):
            fill(caller, [f"word {n}"], project=f"p{n}")
        assert len(search(caller, "word", project=None, limit=100)) == keyword.CORPORA_AT_ONCE // 20 + 2
