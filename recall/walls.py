"""What the isolation self-test tries at memories: each by id, every arm of recall by itself, and a person's
export. Both tenants have the same memories, of a person of the same id, in a project of the same name."""

from collections.abc import Callable, Iterator, Sequence
from typing import get_args
from uuid import UUID

from episodic import search
from episodic.entities import access_entity, current_slots, nearest_slots
from episodic.episodes import access_episode
from episodic.pins import pin_episode
from episodic.retraction import retract_episode
from episodic.types import EpisodeFilter
from knowledge.documents import access_document, list_documents
from knowledge.search import search_chunks
from knowledge.types import ChunkFilter
from ledger.listing import InjectionFilter, list_injections
from observations.observations import access_observation, list_observations
from observations.search import search_observations
from observations.types import MatchMode, ObservationFilter
from recall.context import ContextQuery, fetch_context
from recall.decoys import SLOT, plant
from recall.kinds import KINDS, recall_kinds
from recall.recall import recall
from recall.subjects.memories import list_memories
from recall.types import PROFILES, Profile, RecallQuery
from tenants.errors import Unavailable
from tenants.privacy.registry import Subject, handlers
from tenants.walls.attempts import Attempt
from tenants.walls.registry import Door
from tenants.walls.stage import Ask, Planted, Stage, as_text

MEMORIES, RECALL, EXPORT = "Memories by id", "Recall", "A person's export"
LISTED = 50
REACH = 3  # turns around one


def memory_door() -> Door:
    """Each kind of memory by its id, and in lists."""
    about = "The decoy has a memory of each kind, asked for by its id and in lists."
    return Door(MEMORIES, about, _by_id, plant=plant)


def recall_door() -> Door:
    """Each arm."""
    about = "A sentence that both tenants remember is looked for by each arm of recall."
    return Door(RECALL, about, _by_arm)


def export_door() -> Door:
    """Everything that is exported of a person."""
    about = "Both tenants remember a person of the same id: what each store would hand out in the export."
    return Door(EXPORT, about, _exported)


def _by_id(stage: Stage) -> Iterator[Attempt]:
    for (target, how), ask in _READS.items():
        yield stage.tried(MEMORIES, target, how, ask)


def _one_episode(asker: Planted, owner: Planted) -> object:
    return as_text([access_episode(caller=asker.caller, episode_id=UUID(owner.things["episode"]))])


def _loaded_episodes(asker: Planted, owner: Planted) -> object:
    ids = [UUID(owner.things["episode"])]
    return as_text(search.episodes_by_id(caller=asker.caller, ids=ids).values())


def _pinned(asker: Planted, owner: Planted) -> object:
    episode_id = UUID(owner.things["episode"])
    return as_text([pin_episode(caller=asker.caller, episode_id=episode_id, now=asker.now)])


def _retracted(asker: Planted, owner: Planted) -> object:
    episode_id = UUID(owner.things["episode"])
    return as_text([retract_episode(caller=asker.caller, episode_id=episode_id, now=asker.now)])


def _one_observation(asker: Planted, owner: Planted) -> object:
    number = int(owner.things["observation"])
    return as_text([access_observation(caller=asker.caller, observation_id=number)])


def _observations(asker: Planted, owner: Planted) -> object:
    where = ObservationFilter(project=owner.project)
    return as_text(list_observations(caller=asker.caller, where=where, limit=LISTED))


def _one_slot(asker: Planted, owner: Planted) -> object:
    return as_text([access_entity(caller=asker.caller, user_id=owner.user_id, key=SLOT)])


def _slots(asker: Planted, owner: Planted) -> object:
    return as_text(current_slots(caller=asker.caller, user_id=owner.user_id))


def _one_document(asker: Planted, owner: Planted) -> object:
    found = access_document(caller=asker.caller, document_id=UUID(owner.things["document"]))
    return as_text([found.document])


def _documents(asker: Planted, owner: Planted) -> object:
    return as_text(
        one.document for one in list_documents(caller=asker.caller, project=owner.project, limit=LISTED)
    )


def _injections(asker: Planted, owner: Planted) -> object:
    where = InjectionFilter(user_id=owner.user_id)
    return as_text(list_injections(caller=asker.caller, where=where, limit=LISTED))


def _of_person(asker: Planted, owner: Planted) -> object:
    found = list_memories(caller=asker.caller, user_id=owner.user_id, limit=LISTED)
    return [one.text for one in found]


_READS: dict[tuple[str, str], Ask] = {
    ("an episode", "ask for it by id"): _one_episode,
    ("an episode", "load it as a hit"): _loaded_episodes,
    ("an episode", "pin it"): _pinned,
    ("an episode", "retract it"): _retracted,
    ("a slot", "ask for it by person and key"): _one_slot,
    ("a slot", "list the person's"): _slots,
    ("an observation", "ask for it by number"): _one_observation,
    ("an observation", "list the project's"): _observations,
    ("a document", "ask for it by id"): _one_document,
    ("a document", "list the project's"): _documents,
    ("the ledger", "list what the person was told"): _injections,
    ("memories of any kind", "list what is known of the person"): _of_person,
}


def _by_arm(stage: Stage) -> Iterator[Attempt]:
    for profile in PROFILES:
        yield stage.tried(RECALL, "episodes", _NAMES.get(profile, profile), _recalled(profile))
    yield stage.tried(RECALL, "episodes", "by place: the turns around one", _around)
    yield stage.tried(RECALL, "slots", "by meaning", _nearest_slots)
    yield stage.tried(RECALL, "slots", "by the names in the query", _slot_values)
    for mode in get_args(MatchMode):
        yield stage.tried(RECALL, "observations", f"by words: {mode}", _searched(mode))
    yield stage.tried(RECALL, "documents", "by words and meaning", _chunks)
    yield stage.tried(RECALL, "every kind", "all arms together", _of_any_kind)
    yield stage.tried(RECALL, "an agent's context", "what it is told at a turn", _context)


_NAMES: dict[Profile, str] = {
    "keyword": "by words",
    "similarity": "by meaning",
    "recency": "by meaning and age",
    "fused": "by meaning, age and names",
    "hybrid": "by words, meaning and the turns around",
}


def _recalled(profile: Profile) -> Ask:
    def ask(asker: Planted, owner: Planted) -> object:
        query = _query(owner, profile)
        found = recall(caller=asker.caller, query=query, embedding=lambda: _vector(asker), counted=False)
        return [one.episode.text for one in found.hits]

    return ask


def _query(owner: Planted, profile: Profile | None = None) -> RecallQuery:
    where = EpisodeFilter(user_id=owner.user_id)
    return RecallQuery(text=owner.query, where=where, top_k=LISTED, profile=profile)


def _vector(planted: Planted):  # type: ignore[no-untyped-def]
    if planted.vector is None:
        raise Unavailable("The embedding model is away.")
    return planted.vector


def _around(asker: Planted, owner: Planted) -> object:
    traits = search.traits_around(
        caller=asker.caller,
        ids=[UUID(owner.things["episode"])],
        terms=[],
        vector=None,
        reach=REACH,
        where=EpisodeFilter(user_id=owner.user_id),
    )
    return _secrets(owner, [str(one.id) for one in traits], "episode")


def _secrets(owner: Planted, ids: Sequence[str], kind: str) -> list[str]:
    """Where ids are answered, not texts."""
    return [owner.secret if one == owner.things[kind] else "" for one in ids]


def _nearest_slots(asker: Planted, owner: Planted) -> object:
    found = nearest_slots(caller=asker.caller, user_id=owner.user_id, vector=_vector(asker), limit=LISTED)
    return as_text(slot for slot, _cosine in found)


def _slot_values(asker: Planted, owner: Planted) -> object:
    return search.slot_values(caller=asker.caller, user_id=owner.user_id)


def _searched(mode: MatchMode) -> Ask:
    def ask(asker: Planted, owner: Planted) -> object:
        where = ObservationFilter(project=owner.project)
        hits = search_observations(
            caller=asker.caller, text=owner.query, where=where, limit=LISTED, mode=mode
        )
        return [one.observation.content for one in hits]

    return ask


def _chunks(asker: Planted, owner: Planted) -> object:
    where = ChunkFilter(project=owner.project)
    hits = search_chunks(caller=asker.caller, query=owner.query, top_k=LISTED, where=where)
    return [one.chunk.text for one in hits]


def _of_any_kind(asker: Planted, owner: Planted) -> object:
    answer = recall_kinds(caller=asker.caller, query=_query(owner), kinds=KINDS, now=asker.now, counted=False)
    return [one.episode.text if hasattr(one, "episode") else one.text for one in answer.results]


def _context(asker: Planted, owner: Planted) -> object:
    query = ContextQuery(project=owner.project, text=owner.query, limit=LISTED)
    return fetch_context(caller=asker.caller, query=query, now=asker.now).render()


def _exported(stage: Stage) -> Iterator[Attempt]:
    for name in ("episode", "entity", "observation", "injection", "event"):
        yield stage.tried(EXPORT, name, "export the person of the same id", _export(name))


def _export(name: str) -> Callable[[Planted, Planted], object]:
    def ask(asker: Planted, owner: Planted) -> object:
        return list(handlers()[name].export(Subject(asker.tenant_id, owner.user_id, asker.now)))

    return ask
