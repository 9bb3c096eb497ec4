# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The groups of calls."""

from ..group import AsyncCaller
from .agents import AsyncAgentsGroup
from .audit import AsyncAuditGroup
from .checkpoints import AsyncCheckpointsGroup
from .decisions import AsyncDecisionsGroup
from .documents import AsyncDocumentsGroup
from .entities import AsyncEntitiesGroup
from .episodes import AsyncEpisodesGroup
from .evaluation import AsyncEvaluationGroup
from .feedback import AsyncFeedbackGroup
from .hooks import AsyncHooksGroup
from .injections import AsyncInjectionsGroup
from .jobs import AsyncJobsGroup
from .memory import AsyncMemoryGroup
from .observations import AsyncObservationsGroup
from .policy import AsyncPolicyGroup
from .procedures import AsyncProceduresGroup
from .sessions import AsyncSessionsGroup
from .store import AsyncStoreGroup
from .subjects import AsyncSubjectsGroup
from .webhooks import AsyncWebhooksGroup


class AsyncGroups(AsyncMemoryGroup):
    """A group of calls for each kind of thing, and the calls that are about all memory."""

    def __init__(self, client: AsyncCaller) -> None:
        super().__init__(client)
        self.agents = AsyncAgentsGroup(client)
        self.audit = AsyncAuditGroup(client)
        self.checkpoints = AsyncCheckpointsGroup(client)
        self.decisions = AsyncDecisionsGroup(client)
        self.documents = AsyncDocumentsGroup(client)
        self.entities = AsyncEntitiesGroup(client)
        self.episodes = AsyncEpisodesGroup(client)
        self.evaluation = AsyncEvaluationGroup(client)
        self.feedback = AsyncFeedbackGroup(client)
        self.hooks = AsyncHooksGroup(client)
        self.injections = AsyncInjectionsGroup(client)
        self.jobs = AsyncJobsGroup(client)
        self.observations = AsyncObservationsGroup(client)
        self.policy = AsyncPolicyGroup(client)
        self.procedures = AsyncProceduresGroup(client)
        self.sessions = AsyncSessionsGroup(client)
        self.store = AsyncStoreGroup(client)
        self.subjects = AsyncSubjectsGroup(client)
        self.webhooks = AsyncWebhooksGroup(client)
