"""How the client calls what the API does: the one thing that its description does not say.

The generator takes everything else, parameters, fields and types, from the description. A route that is not
named here stops it, and so does a name of what is not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Named:
    """`name` is `group.method`, or a method of the client itself. `is_kept`: a buffer may keep it. `form`: of
    the two kinds of body, the form. `many`: the body is a list, given as this argument. `is_about`: where the
    call does not name a user or an agent, the client's are meant. `is_tagged`: the version of what is read is
    in its `ETag` alone. `completed_by`: the function of `completing` that says what else is meant. `notes`:
    of parameters for which the client means something that the route does not."""

    operation: str
    name: str
    is_kept: bool = False
    form: bool = False
    many: str | None = None
    is_about: bool = True
    is_tagged: bool = False
    completed_by: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def group(self) -> str:
        return self.name.rpartition(".")[0] or "memory"

    @property
    def method(self) -> str:
        return self.name.rpartition(".")[2]


def _of_tenant(operation: str, name: str) -> Named:
    """Not about the user or the agent whom the client speaks for."""
    return Named(operation, name, is_about=False)


KINDS = (
    "Of memories; by default episodes, and slots, too, where a user is named and nothing that slots are not"
    " chosen by: an agent, a project, a session, a memory type, topics or a time."
)
NAMES = (
    Named("recall_create", "recall", completed_by="with_slots", notes={"kinds": KINDS}),
    Named("remember_create", "remember", is_kept=True),
    Named("assemble_create", "assemble"),
    Named("agents_list", "agents.list"),
    Named("agents_retrieve", "agents.get"),
    Named("agents_update", "agents.put"),
    Named("agents_destroy", "agents.delete"),
    _of_tenant("audit_list", "audit.list"),
    Named("documents_list", "documents.list"),
    Named("documents_create", "documents.create"),
    Named("documents_create", "documents.upload", form=True),
    Named("documents_retrieve", "documents.get"),
    Named("documents_destroy", "documents.delete"),
    Named("documents_search_create", "documents.search"),
    Named("entities_list", "entities.list"),
    Named("entities_retrieve", "entities.get"),
    Named("entities_update", "entities.put", is_kept=True),
    Named("entities_destroy", "entities.delete"),
    Named("entities_confirm_create", "entities.confirm"),
    Named("entities_history_retrieve", "entities.history"),
    Named("entities_pin_create", "entities.pin"),
    Named("entities_unpin_create", "entities.unpin"),
    Named("episodes_list", "episodes.list"),
    Named("episodes_create", "episodes.create", is_kept=True),
    Named("episodes_retrieve", "episodes.get"),
    Named("episodes_partial_update", "episodes.change"),
    Named("episodes_destroy", "episodes.delete"),
    Named("episodes_history_retrieve", "episodes.history"),
    Named("episodes_pin_create", "episodes.pin"),
    Named("episodes_retract_create", "episodes.retract"),
    Named("episodes_unmerge_create", "episodes.unmerge"),
    Named("episodes_unpin_create", "episodes.unpin"),
    _of_tenant("evaluation_queries_list", "evaluation.list"),
    _of_tenant("evaluation_queries_create", "evaluation.create"),
    _of_tenant("evaluation_queries_retrieve", "evaluation.get"),
    _of_tenant("evaluation_queries_partial_update", "evaluation.label"),
    _of_tenant("evaluation_queries_destroy", "evaluation.delete"),
    _of_tenant("evaluation_trial_retrieve", "evaluation.trial"),
    _of_tenant("exports_retrieve", "subjects.download_own_export"),
    Named("feedback_retrieve", "feedback.list"),
    Named("feedback_create", "feedback.create", is_kept=True),
    Named("hooks_before_tool_create", "hooks.before_tool"),
    Named("hooks_tool_result_create", "hooks.tool_result"),
    Named("injections_retrieve", "injections.list"),
    _of_tenant("jobs_list", "jobs.list"),
    _of_tenant("jobs_retrieve", "jobs.get"),
    _of_tenant("jobs_download_retrieve", "jobs.download"),
    _of_tenant("jobs_replay_create", "jobs.replay"),
    Named("observations_list", "observations.list"),
    Named("observations_retrieve", "observations.get"),
    Named("observations_restore_create", "observations.restore"),
    Named("observations_revisions_retrieve", "observations.revisions"),
    _of_tenant("policy_retrieve", "policy.get"),
    _of_tenant("policy_partial_update", "policy.change"),
    _of_tenant("policy_diff_retrieve", "policy.diff"),
    _of_tenant("policy_rollback_create", "policy.rollback"),
    _of_tenant("policy_schema_retrieve", "policy.schema"),
    _of_tenant("policy_versions_retrieve", "policy.versions"),
    _of_tenant("procedures_list", "procedures.list"),
    _of_tenant("procedures_retrieve", "procedures.get"),
    _of_tenant("receipts_key_retrieve", "subjects.receipt_key"),
    Named("sessions_list", "sessions.list"),
    Named("sessions_create", "sessions.create", is_kept=True),
    Named("sessions_retrieve", "sessions.get"),
    Named("sessions_destroy", "sessions.delete"),
    Named("sessions_checkpoint_retrieve", "checkpoints.get", is_tagged=True),
    Named("sessions_checkpoint_update", "checkpoints.put"),
    Named("sessions_end_create", "sessions.end", is_kept=True),
    Named("sessions_events_retrieve", "sessions.events"),
    Named("sessions_events_create", "sessions.append_event", is_kept=True),
    Named("sessions_events_create", "sessions.append_events", is_kept=True, many="events"),
    Named("sessions_start_create", "sessions.start"),
    Named("sessions_turns_create", "sessions.append_turns", is_kept=True),
    Named("sessions_window_retrieve", "sessions.window"),
    _of_tenant("sessions_cleanup_create", "sessions.clean_up"),
    _of_tenant("sessions_stats_retrieve", "sessions.stats"),
    _of_tenant("subjects_erase_create", "subjects.erase"),
    _of_tenant("subjects_export_create", "subjects.export"),
    _of_tenant("subjects_link_create", "subjects.link"),
    _of_tenant("subjects_link_destroy", "subjects.unlink"),
    _of_tenant("subjects_receipts_retrieve", "subjects.receipts"),
    _of_tenant("subjects_rectify_create", "subjects.rectify"),
    _of_tenant("subjects_restrict_retrieve", "subjects.restriction"),
    _of_tenant("subjects_restrict_create", "subjects.restrict"),
    _of_tenant("subjects_restrict_destroy", "subjects.lift_restriction"),
    _of_tenant("webhooks_list", "webhooks.list"),
    _of_tenant("webhooks_create", "webhooks.create"),
    _of_tenant("webhooks_retrieve", "webhooks.get"),
    _of_tenant("webhooks_partial_update", "webhooks.change"),
    _of_tenant("webhooks_destroy", "webhooks.delete"),
    _of_tenant("webhook_deliveries_of_one_list", "webhooks.deliveries_of"),
    _of_tenant("webhooks_rotate_create", "webhooks.rotate_secret"),
    _of_tenant("webhooks_secret_retrieve", "webhooks.secret"),
    _of_tenant("webhooks_test_create", "webhooks.test"),
    _of_tenant("webhook_deliveries_list", "webhooks.deliveries"),
    _of_tenant("webhooks_deliveries_retrieve", "webhooks.delivery"),
    _of_tenant("webhooks_deliveries_replay_create", "webhooks.replay_delivery"),
    Named("write_decisions_list", "decisions.list"),
    Named("write_decisions_retrieve", "decisions.get"),
    Named("write_decisions_confirm_create", "decisions.confirm"),
    Named("write_decisions_reject_create", "decisions.reject"),
    Named("store_items_put", "store.put", is_kept=True),
    Named("store_items_get", "store.get"),
    Named("store_items_delete", "store.delete", is_kept=True),
    Named("store_items_search_create", "store.search"),
    Named("store_namespaces_create", "store.namespaces"),
    Named("store_batch_create", "store.batch"),
)
# What each group is about; its docstring.
GROUPS = {
    "memory": "Recalls what is remembered, remembers what was said, and assembles both for a model.",
    "agents": "What agents declare of themselves: their memory, their tool hooks, KAOS's block.",
    "audit": "Who did what in the tenant.",
    "checkpoints": "The state that an agent can go on from, one for each session.",
    "decisions": "What the write policy decided, and what waits for somebody to confirm it.",
    "documents": "Documents that are searched passage by passage, apart from what is remembered.",
    "entities": "Slots: what is known of a user by key, such as `home_city`, one value at a time.",
    "episodes": "Memories as texts: what happened, what holds, what was said.",
    "evaluation": "Saved queries that say what recall ought to find, and trials of how it ranks.",
    "feedback": "Whether what was told to an agent helped.",
    "hooks": "What is asked before a tool is called, and told after it.",
    "injections": "What was put into a session's prompts, and when.",
    "jobs": "Work in the background: its state, its result, and doing it again.",
    "observations": "What agents have found out about a project, with their revisions.",
    "policy": "What is kept, for how long, and how it is found: its versions and their differences.",
    "procedures": "Prompts and guardrails that are deployed for agents.",
    "sessions": "Conversations: their turns and events, the window that a model sees, their end.",
    "store": "JSON items by namespace and key, found by their names, their fields or their meaning.",
    "subjects": "Persons and their rights: export, erasure, rectification, restriction.",
    "webhooks": "Who is called when something changes, and what became of each call.",
}
# Written by hand: what is not a request with one answer.
BY_HAND = {"events_stream": "stream"}
