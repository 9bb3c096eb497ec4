"""What is measured: requests for the server, and the floor under each."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.benchmarks import ams, assembling, exact, turns
from tests.benchmarks.floors import Call, clock, unique_id
from tests.benchmarks.load import Request
from tests.benchmarks.seed import AGENT, USERS, Member, user_name
from tests.benchmarks.stage import Stage

CONVERSATIONS = 64
FIELDS = {f"field_{number}": f"value {number} of the scratchpad" for number in range(10)}
QUERIES = (
    "what did the customer say about the invoice",
    "why was the delivery late again",
    "which address should the replacement go to",
    "how did we solve the login problem",
)
TURN = "Could you check why my last order has not arrived yet?"


@dataclass(frozen=True)
class Case:
    """`prepare` makes what the requests need; `floor` is the same work without the door."""

    name: str
    title: str
    requests: Callable[[Stage], list[Request]]
    floor: Callable[[Stage], Call]
    prepare: Callable[[Stage], list[Request]] = lambda _stage: []
    episodes: int | None = None


def _members(stage: Stage) -> list[tuple[int, Member]]:
    return [(number, stage.members[number % len(stage.members)]) for number in range(CONVERSATIONS)]


def _refs(stage: Stage, prefix: str) -> list:
    """Caller and identity of each conversation."""
    from tenants.api_keys import authenticate
    from working.sessions import exact_ref
    from working.types import SessionAddress

    refs = []
    for number, member in _members(stage):
        caller = authenticate(member.key)
        refs.append((caller, exact_ref(caller, SessionAddress(f"{prefix}-{number}"))))
    return refs


# ── working memory ───────────────────────────────────────────────────────────────────────────────
def put_requests(stage: Stage) -> list[Request]:
    return [
        Request("PUT", f"/working-memory/memory-{number}", member.key, {"data": FIELDS})
        for number, member in _members(stage)
    ]


def get_requests(stage: Stage) -> list[Request]:
    return [
        Request("GET", f"/working-memory/memory-{number}", member.key) for number, member in _members(stage)
    ]


def get_floor(stage: Stage) -> Call:
    from working import store

    refs = _refs(stage, "memory")

    def call(number: int) -> object:
        caller, ref = refs[number % len(refs)]
        return store.read_fields(caller=caller, ref=ref, now=clock().timestamp(), measure=False)

    return call


def put_floor(stage: Stage) -> Call:
    from working import store

    refs = _refs(stage, "memory")

    def call(number: int) -> object:
        caller, ref = refs[number % len(refs)]
        now = clock().timestamp()
        return store.write_fields(caller=caller, ref=ref, now=now, values=FIELDS, ttl=None, undo_above=0)

    return call


# ── turns ────────────────────────────────────────────────────────────────────────────────────────
def _turns(stage: Stage, name: str, contents: list[tuple[str, str]]) -> list[Request]:
    turns = [
        {"id": "@@" + role + str(n), "role": role, "content": text} for n, (role, text) in enumerate(contents)
    ]
    return [
        Request("POST", f"/api/v1/sessions/{name}-{number}/turns", member.key, {"turns": turns})
        for number, member in _members(stage)
    ]


def append_requests(stage: Stage) -> list[Request]:
    return _turns(stage, "append", [("user", TURN)])


def append_floor(stage: Stage) -> Call:
    from tenants.scope import scope
    from working import querysets, store
    from working.events import entry_of
    from working.types import NewEvent

    refs = _refs(stage, "append")

    def call(number: int) -> object:
        caller, ref = refs[number % len(refs)]
        now, token = clock(), unique_id()
        event = NewEvent("user_message", TURN, now, external_id=unique_id(), role="user")
        store.mark(caller=caller, ref=ref, now=now.timestamp(), token=token)
        with scope(ref.tenant_id):
            session, _created = querysets.open_session(ref=ref, agent_id="", project="", metadata={}, now=now)
            numbers, _count = querysets.append_events(session=session, events=[event], now=now)
        seq = (session.last_seq, session.last_seq + len(numbers))
        done = store.Committed(seq=seq, agent_id="", project="", entries=[entry_of(seq[1], event)])
        return store.settle(caller=caller, ref=ref, now=now.timestamp(), token=token, committed=done)

    return call


def window_prepare(stage: Stage) -> list[Request]:
    return _turns(stage, "window", [("user", TURN), ("assistant", "It left the depot this morning.")] * 12)


def window_requests(stage: Stage) -> list[Request]:
    return [
        Request("GET", f"/api/v1/sessions/window-{number}/window?turns=12", member.key)
        for number, member in _members(stage)
    ]


def window_floor(stage: Stage) -> Call:
    from working import store

    refs = _refs(stage, "window")

    def call(number: int) -> object:
        caller, ref = refs[number % len(refs)]
        return store.read_turns(caller=caller, ref=ref, now=clock().timestamp(), count=48)

    return call


# ── ledger ───────────────────────────────────────────────────────────────────────────────────────
ITEM = "skill:spacing-calculation"


def mark_requests(stage: Stage) -> list[Request]:
    return [
        Request("POST", f"/ledger/ledger-{number}/mark", member.key, {"item_key": ITEM})
        for number, member in _members(stage)
    ]


def check_requests(stage: Stage) -> list[Request]:
    return [
        Request("POST", f"/ledger/ledger-{number}/check", member.key, {"item_key": ITEM})
        for number, member in _members(stage)
    ]


def check_floor(stage: Stage) -> Call:
    from ledger import store

    refs = _refs(stage, "ledger")

    def call(number: int) -> object:
        caller, ref = refs[number % len(refs)]
        return store.read_item(caller=caller, ref=ref, now=clock().timestamp(), item_key=ITEM)

    return call


# ── episodes ─────────────────────────────────────────────────────────────────────────────────────
def store_requests(stage: Stage) -> list[Request]:
    return [
        Request(
            "POST", "/episodic/store", member.key,
            {"agent_id": AGENT, "user_id": user_name(number % USERS), "conversation_id": f"stored-{number}",
             "summary": f"{TURN} The customer asked twice."},
        )
        for number, member in _members(stage)
    ]  # fmt: skip


def store_floor(stage: Stage) -> Call:
    from episodic.embedding import vector_of
    from episodic.models import Episode
    from providers.embeddings import get_embedder
    from tenants.scope import scope

    def call(number: int) -> object:
        member = stage.members[number % len(stage.members)]
        vector = get_embedder().embed([f"{TURN} The customer asked twice."])[0]
        episode = Episode(
            tenant_id=member.tenant_id, user_id=user_name(number % USERS), agent_id=AGENT, session="floor",
            text=TURN, created_at=clock(), embed_pending=False,
        )  # fmt: skip
        with scope(member.tenant_id):
            episode.save(force_insert=True)
            vector_of(episode, vector).save(force_insert=True)
        return episode

    return call


def search_requests(*, by_user: bool) -> Callable[[Stage], list[Request]]:
    def requests(stage: Stage) -> list[Request]:
        found = []
        for number in range(200):
            member, user = stage.members[number % len(stage.members)], user_name(number % USERS)
            body = {"query": QUERIES[number % len(QUERIES)], "agent_id": AGENT, "top_k": 5}
            found.append(
                Request(
                    "POST", "/episodic/search", member.key, {**body, "user_id": user} if by_user else body
                )
            )
        return found

    return requests


def search_floor(*, by_user: bool) -> Callable[[Stage], Call]:
    def floor(stage: Stage) -> Call:
        from episodic.types import EpisodeFilter
        from providers.embeddings import get_embedder

        def call(number: int) -> object:
            member = stage.members[number % len(stage.members)]
            embedder = get_embedder()
            vector = embedder.embed([QUERIES[number % len(QUERIES)]])[0]
            where = EpisodeFilter(agent_id=AGENT, user_id=user_name(number % USERS) if by_user else None)
            return exact.search(
                tenant_id=member.tenant_id, model=embedder.model, vector=vector, where=where, limit=5
            )

        return call

    return floor


def _search(size: int, *, by_user: bool) -> Case:
    what = "one user's" if by_user else "one agent's"
    return Case(
        f"search-{'user' if by_user else 'agent'}-{size // 1000}k",
        f"episodic search, {what}, of {size:,}",
        search_requests(by_user=by_user),
        search_floor(by_user=by_user),
        episodes=size,
    )


# ── remembering ──────────────────────────────────────────────────────────────────────────────────
TOLD = "Could you check my order once more? By the way, my favourite colour is @@."


def remember_prepare(stage: Stage) -> list[Request]:
    return _turns(stage, "remember", [("user", TURN), ("assistant", "It left the depot this morning.")] * 12)


def remember_requests(stage: Stage) -> list[Request]:
    """Each says something else, so that every request changes a slot."""
    return [
        Request(
            "POST", "/api/v1/remember", member.key,
            {"session_id": f"remember-{number}", "user_id": user_name(number % USERS), "user_message": TOLD,
             "assistant_message": "It left the depot this morning."},
        )
        for number, member in _members(stage)
    ]  # fmt: skip


def remember_floor(stage: Stage) -> Call:
    """One embedding and one bare row."""
    from episodic.entity_embedding import keep_vector
    from episodic.models import Entity
    from providers.embeddings import get_embedder
    from tenants.scope import scope

    def call(number: int) -> object:
        member, colour = stage.members[number % len(stage.members)], unique_id()
        vector = get_embedder().embed([f"favorite:colour: {colour}"])[0]
        now = clock()
        row = Entity(
            tenant_id=member.tenant_id, user_id=user_name(number % USERS), key=f"floor:{colour}",
            value=colour, confidence=0.9, source="rules", valid_from=now, created_at=now, updated_at=now,
            embed_pending=False,
        )  # fmt: skip
        with scope(member.tenant_id):
            row.save(force_insert=True)
            keep_vector(row, vector)
        return row

    return call


CASES = [
    Case("get", "working memory GET", get_requests, get_floor, put_requests),
    Case("put", "working memory PUT, 10 fields", put_requests, put_floor, put_requests),
    Case("append", "turn append", append_requests, append_floor, append_requests),
    Case("window", "window of 12", window_requests, window_floor, window_prepare),
    *(
        Case(f"ams-{verb.lower()}-{count}", f"/v1 {verb}, {count} messages", *parts(count))
        for verb, parts in (("GET", ams.get_parts), ("PUT", ams.put_parts))
        for count in (10, 100)
    ),
    Case(
        "ams-search",
        "/v1 search, 1,000 records",
        ams.search_requests,
        ams.search_floor,
        ams.search_prepare,
    ),
    Case("check", "ledger check", check_requests, check_floor, mark_requests),
    _search(1_000, by_user=True),
    _search(1_000, by_user=False),
    _search(100_000, by_user=True),
    _search(100_000, by_user=False),
    Case("recall-6k", "recall, 6,000 turns of 10 users", *turns.parts(users=10, each=600)),
    Case("recall-5k", "recall, one user's 5,000 turns", *turns.parts(users=1, each=5_000)),
    Case(
        "recall-1m",
        "recall, one user's 5,000 turns among 1,000,000 episodes",
        *turns.parts(users=1, each=5_000),
        episodes=1_000_000,
    ),
    Case("store", "episodic store", store_requests, store_floor),
    Case("remember", "remember, by rules", remember_requests, remember_floor, remember_prepare),
    Case(
        "assemble",
        f"assemble, of {assembling.KNOWN:,} episodes and {assembling.SLOTS} slots",
        assembling.requests,
        assembling.floor,
        assembling.prepare,
    ),
]
