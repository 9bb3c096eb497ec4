# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The groups of calls."""

from ..group import Caller
from .agents import AgentsGroup
from .audit import AuditGroup
from .checkpoints import CheckpointsGroup
from .decisions import DecisionsGroup
from .documents import DocumentsGroup
from .entities import EntitiesGroup
from .episodes import EpisodesGroup
from .evaluation import EvaluationGroup
from .feedback import FeedbackGroup
from .hooks import HooksGroup
from .injections import InjectionsGroup
from .jobs import JobsGroup
from .memory import MemoryGroup
from .observations import ObservationsGroup
from .policy import PolicyGroup
from .procedures import ProceduresGroup
from .sessions import SessionsGroup
from .store import StoreGroup
from .subjects import SubjectsGroup
from .webhooks import WebhooksGroup


class Groups(MemoryGroup):
    """A group of calls for each kind of thing, and the calls that are about all memory."""

    def __init__(self, client: Caller) -> None:
        super().__init__(client)
        self.agents = AgentsGroup(client)
        self.audit = AuditGroup(client)
        self.checkpoints = CheckpointsGroup(client)
        self.decisions = DecisionsGroup(client)
        self.documents = DocumentsGroup(client)
        self.entities = EntitiesGroup(client)
        self.episodes = EpisodesGroup(client)
        self.evaluation = EvaluationGroup(client)
        self.feedback = FeedbackGroup(client)
        self.hooks = HooksGroup(client)
        self.injections = InjectionsGroup(client)
        self.jobs = JobsGroup(client)
        self.observations = ObservationsGroup(client)
        self.policy = PolicyGroup(client)
        self.procedures = ProceduresGroup(client)
        self.sessions = SessionsGroup(client)
        self.store = StoreGroup(client)
        self.subjects = SubjectsGroup(client)
        self.webhooks = WebhooksGroup(client)
