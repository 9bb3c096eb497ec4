"""The summaries of a session: whether they are wanted, what they may quote, and how they are kept."""

from datetime import datetime

from episodic.episodes import build_episode
from episodic.inserting import insert_episode
from episodic.metrics import counted_at_commit
from episodic.models import Episode, Origin
from episodic.types import NewEpisode
from ledger.decisions import Refused, note_decision
from recall.gate import judge
from recall.rewriting import enqueue_rewrite
from recall.summary import LONGEST_QUOTE, SUMMARISER, select_notes, summarise, weight_of
from recall.told import SUMMARY
from screening.fences import strip_fences
from screening.injection import find_injection
from screening.sensitive import find_sensitive, mask
from tenants.agents.reading import agent_behind
from tenants.caller import Caller
from tenants.policy.reading import read_policy
from working.models import Session
from working.spans import Span, spoken_in
from working.unlogged import keeps_log

LOOKED_AT = 2_000  # characters of a message: a secret that only begins within a quote is seen in full
LEFT_OUT = "[left out]"
MOST_JUDGED = 40  # messages that are looked through for what to note


def wants_summaries(session: Session) -> bool:
    """Whether the policy turns sessions into summaries, and the agent does not object."""
    declared = agent_behind(tenant_id=session.tenant_id, agent_id=session.agent_id, project=session.project)
    if declared is not None and not declared.memory.auto_summarize:
        return False
    policy = read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id)
    return policy.write.episodes in {"periodic", "both"}


def tell(*, caller: Caller, session: Session, span: Span, now: datetime, inflected: bool = True) -> str:
    """The deterministic summary of the span, in the open scope. It quotes nothing that was injected or is an
    order to the model, and nothing sensitive; what is left out by that is noted as a decision. The
    AgentOps dialect's wording is not `inflected`: it has the user's first words and last alone."""
    first = _quotable(caller, session, span.first, now)
    last = first if span.last == span.first else _quotable(caller, session, span.last, now)
    noted: list[str] = []
    if inflected:
        known = [one[:LONGEST_QUOTE] for one in (first, last) if one is not None]
        noted = select_notes(_notable(session, span), known=known)
    return summarise(messages=span.messages, first=first, last=last, inflected=inflected, noted=noted)


def _notable(session: Session, span: Span) -> list[str]:
    """What was said and holds something to be noted, as far as it may be quoted: of very much the heaviest,
    and of these the newest."""
    said = [one[:LOOKED_AT] for one in spoken_in(session=session, span=span)]
    weighed = [(weight, at, text) for at, text in enumerate(said) if (weight := weight_of(text))]
    heaviest = sorted(weighed, key=lambda one: (-one[0], -one[1]))[:MOST_JUDGED]
    texts = [strip_fences(text) for _weight, _at, text in sorted(heaviest, key=lambda one: one[1])]
    return [mask(text, find_sensitive(text)) for text in texts if not find_injection(text)]


def keep_summary(*, caller: Caller, session: Session, span: Span, text: str, now: datetime) -> Episode:
    """Stores a summary as an episode, in the open scope, and records the job that has it rewritten. It gets
    its vector later. Without a log there is nothing to rewrite it from."""
    new = NewEpisode(
        text=text,
        user_id=session.user_id,
        agent_id=session.agent_id,
        project=session.project,
        session_id=session.external_id,
        namespace=session.namespace,
        origin=Origin.SESSION,
        covers_turns=span.covers,
        metadata={"kind": SUMMARY, "message_count": span.messages, "summariser": SUMMARISER},
    )
    moment = max(now, session.started_at)  # before that it would be of another life of the session
    episode = build_episode(caller=caller, new=new, now=moment)
    with counted_at_commit():
        insert_episode(episode)
    if keeps_log(tenant_id=session.tenant_id, agent_id=session.agent_id):
        enqueue_rewrite(session=session, episode=episode, now=now)
    return episode


def _quotable(caller: Caller, session: Session, words: str | None, now: datetime) -> str | None:
    if words is None:
        return None
    text = strip_fences(words[:LOOKED_AT])
    verdict = judge(text, policy=read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id))
    if verdict.action in ("hold", "refuse"):
        note_decision(
            caller=caller,
            session_id=session.external_id,
            user_id=session.user_id,
            agent_id=session.agent_id,
            project=session.project,
            refused=Refused("episode", verdict.reason, text, findings=verdict.findings),
            now=now,
        )
    return LEFT_OUT if verdict.reason == "injection" else mask(text, find_sensitive(text))
