import pytest

from memoryproject.replay.client import MemoryClient
from memoryproject.replay.errors import ReplayError, ServerFailed
from memoryproject.replay.player import Player
from memoryproject.replay.transcripts import Session, Transcript
from tests.replay.fake_server import FakeStrata

BUSY = (503, {"Retry-After": "3"}, {"title": "Busy", "status": 503})


@pytest.fixture
def player(client: MemoryClient, transcript: Transcript, waits: list[float]) -> Player:
    return Player(client, transcript, "ana", sleep=waits.append)


def messages(strata: FakeStrata) -> list[str]:
    return [one["metadata"]["turn_id"] for one in strata.episodes if one["memory_type"] == "message"]


def summaries(strata: FakeStrata) -> list[str]:
    return [one["session_id"] for one in strata.episodes if one["memory_type"] == "episodic"]


def test_turns_memories_and_session_ends_arrive_in_order(strata, player, transcript):
    played = player.play()
    assert [list(turns) for turns in strata.turns.values()] == [
        [turn.id for turn in session.turns] for session in transcript.sessions
    ]
    assert messages(strata) == [turn.id for turn in transcript.turns]
    assert summaries(strata) == ["ana-two-sessions-s1", "ana-two-sessions-s2"]
    assert (played.turns, played.stored, played.skipped, played.sessions_ended) == (63, 63, 0, 2)


def test_a_turn_is_sent_as_the_agent_would(strata, player):
    player.play()
    assert strata.turns["ana-two-sessions-s1"]["1.1"] == {
        "id": "1.1",
        "role": "user",
        "content": "This is turn 1.1.",
        "created_at": "2024-02-05T09:01:00Z",
    }
    stored = {name: value for name, value in strata.episodes[0].items() if name not in ("id", "embedded")}
    assert stored == {
        "text": "User: This is turn 1.1.",
        "user_id": "ana",
        "agent_id": "replay",
        "session_id": "ana-two-sessions-s1",
        "memory_type": "message",
        "event_date": "2024-02-05T09:01:00Z",
        "covers_turns": [1, 1],
        "metadata": {"turn_id": "1.1"},
    }


def test_a_long_session_is_sent_in_batches(strata, player):
    player.play()
    assert strata.calls.count("POST /sessions/ana-two-sessions-s1/turns") == 2


def test_playing_again_stores_and_ends_nothing(strata, client, transcript, player):
    player.play()
    before, calls = list(strata.episodes), len(strata.calls)
    again = Player(client, transcript, "ana").play()
    assert strata.episodes == before
    assert not [call for call in strata.calls[calls:] if call.startswith("POST")]
    assert (again.stored, again.skipped, again.sessions_ended, again.sessions_skipped) == (0, 63, 0, 2)


def test_another_user_has_a_memory_of_their_own(strata, client, transcript, player):
    player.play()
    assert Player(client, transcript, "bo").play().stored == 63
    assert len(strata.turns) == 4


def test_two_conversations_of_one_user_do_not_mix(client, transcript, player):
    player.play()
    other = Transcript("other", transcript.sessions, transcript.questions)
    played = Player(client, other, "ana").play()
    assert (played.stored, played.foreign) == (63, 63)


def test_a_session_that_grew_gets_only_what_is_new(strata, client, transcript, player):
    first, second = transcript.sessions
    grown = Session(
        second.id, (*second.turns, first.turns[0].__class__(**{**vars(first.turns[0]), "id": "2.4"}))
    )
    player.play()
    Player(client, Transcript(transcript.id, (first, grown), ()), "ana").play()
    assert messages(strata)[63:] == ["2.4"]


def test_progress_counts_every_turn_once(client, transcript):
    done: list[int] = []
    for _ in range(2):
        done.clear()
        Player(client, transcript, "ana", advance=done.append).play()
        assert sum(done) == 63


def test_a_session_without_turns_is_passed_over(client, strata, transcript):
    empty = Transcript("t", (Session("none", ()), transcript.sessions[1]), ())
    assert Player(client, empty, "ana").play().sessions_ended == 1


@pytest.mark.parametrize("call", ["POST turns", "POST episodes", "POST end", "GET episodes"])
def test_a_busy_server_is_asked_again_when_it_said(strata, player, waits, call):
    strata.planned[call] = [BUSY, BUSY]
    assert player.play().stored == 63
    assert waits == [3.0, 3.0]


@pytest.mark.parametrize("call", ["POST episodes", "POST end"])
def test_a_write_carried_out_without_saying_so_is_not_repeated(strata, player, call):
    strata.lose_answers.add(call)
    played = player.play()
    assert len(messages(strata)) == len(set(messages(strata))) == 63
    assert len(summaries(strata)) == 2
    assert (played.stored, played.sessions_ended) == (63, 2)


def test_a_server_that_stays_busy_is_given_up(strata, player):
    strata.planned["POST episodes"] = [BUSY] * 100
    with pytest.raises(ReplayError, match="503 to POST /api/v1/episodes: Busy"):
        player.play()


def test_after_a_cut_connection_the_next_run_goes_on_from_there(strata, client, transcript, player):
    strata.cut_after = 20
    with pytest.raises(
        ServerFailed, match=r"connection to Strata at .* was lost during POST /api/v1/episodes"
    ):
        player.play()
    stored = len(strata.episodes)
    strata.cut_after = None
    again = Player(client, transcript, "ana").play()
    assert 0 < stored == again.skipped
    assert sorted(messages(strata)) == sorted(turn.id for turn in transcript.turns)


def test_play_waits_until_every_message_has_its_vector(strata, player, waits):
    strata.looks_until_embedded = 12
    player.play()
    assert waits


def test_vectors_that_never_come_end_the_replay(strata, client, transcript):
    strata.looks_until_embedded = 10_000
    clock = iter(range(0, 10_000, 20))
    player = Player(client, transcript, "ana", sleep=lambda _s: None, clock=lambda: float(next(clock)))
    with pytest.raises(ReplayError, match="63 messages still have no embedding after 60 s"):
        player.play()


def test_answers_come_ranked_with_the_turn_they_came_from(strata, player, transcript):
    player.play()
    first, _second = player.ask(transcript.questions)
    assert [hit.turn_id for hit in first.hits] == [f"1.{n}" for n in range(1, 11)]
    assert [hit.rank for hit in first.hits] == list(range(1, 11))


def test_memories_of_another_conversation_are_not_taken_for_evidence(client, transcript, player):
    player.play()
    other = Player(client, Transcript("other", transcript.sessions, transcript.questions), "ana")
    other.play()
    answer = next(other.ask(transcript.questions))
    assert {hit.turn_id for hit in answer.hits} == {None}
