"""Which columns and JSON keys hold words of another kind: names of projects, types, agents, models.

A person may be called like one of them. A column that is not entered here is taken for one that can name a
person: what is forgotten is reported, not passed over.
"""

# Words of ours, which nobody can set to an id: not looked at.
VOCABULARY = {
    ("agent_episodes", "memory_type"), ("agent_episodes", "origin"),
    ("evaluation_queries", "source"), ("ledger_feedback", "variant"), ("ledger_injection", "variant"),
    ("ledger_injection", "why"),
    ("summary_views", "group_by"), ("summary_views", "source"),
    ("tenants_auditentry", "action"), ("tenants_invitation", "role"), ("tenants_job", "kind"),
    ("tenants_job", "state"),
    ("tenants_member", "role"), ("tenants_providerusage", "provider"), ("tenants_providerusage", "purpose"),
}  # fmt: skip

_NAMED_AFTER = ("agent", "embedding", "observation", "policy", "procedure", "retention", "tenant")
_LOGGED = " OR ".join(f"action LIKE '{one}.%%' OR action = '{one}'" for one in _NAMED_AFTER)

# Words that callers choose, but that mean another thing than a person: looked at, and reported apart. Each
# with the condition, in SQL, on which it holds of a row.
_COLUMNS = {
    "agent_episodes": "agent_id project",
    "chat_events": "event_type role",
    "chunk_embeddings": "model project",
    "entity_embeddings": "model",
    "episode_access": "agent_id",
    "episode_embeddings": "agent_id model",
    "episode_search": "agent_id",
    "evaluation_queries": "agent_id project",
    "knowledge_chunk": "project",
    "knowledge_deployment": "environment name",
    "knowledge_document": "media_type project",
    "knowledge_procedure": "name version",
    "ledger_feedback": "agent_id kind project verdict",
    "ledger_writedecision": "agent_id key kind outcome project reason",
    "observation_embeddings": "corpus model",
    "observation_search": "corpus scope type",
    "observations_observation": "agent_id project scope topic_key type",
    "observations_observationrevision": "type",
    "summary_partitions": "model",
    "summary_runs": "agent_id project",
    "summary_views": "agent_id model_name project",
    "tenants_agent": "name project spec",
    "tenants_apikey": "agent_id project scopes",
    "tenants_policyversion": "agent_id document",
    "tenants_providerusage": "model",
    "tenants_tenantembedding": "model other",
    "tenants_tombstone": "receipt",
    "user_entities": "agent_id key status",
    "webhooks_delivery": "event kind state",
    "webhooks_webhook": "agent_id events kinds project",
    "working_session": "agent_id project",
}
WORDS = {(table, name): "true" for table, names in _COLUMNS.items() for name in names.split()}
WORDS["tenants_auditentry", "target"] = f"({_LOGGED})"
WORDS["user_entities", "source"] = "source IN ('api', 'rules', 'llm')"

# Keys of JSON, at any depth, under which a text is such a word.
KEYS = (
    "action", "agent", "agent_id", "agentId", "corpus", "environment", "event", "event_type", "kind",
    "memory_type", "model", "project", "role", "scope", "state", "status", "tool", "topic_key", "type",
    "variant", "verdict",
)  # fmt: skip

# JSON that this server makes: the names in it are its own, and only the values can be somebody's.
OWN_NAMES = {
    ("tenants_auditentry", "details"),
    ("tenants_job", "payload"),
    ("tenants_job", "result"),
    ("tenants_storedanswer", "body"),
    ("tenants_storedanswer", "headers"),
    ("webhooks_delivery", "data"),
}
