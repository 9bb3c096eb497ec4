"""What stores and tables are called before people who know none of their names."""

# By the name of the handler, as receipts and counts have it.
STORES = {
    "api_key": "Keys bound to the person",
    "checkpoint": "Saved states of conversations",
    "chunk": "Passages of their documents",
    "chunk_embedding": "Vectors of these passages",
    "document": "Their documents",
    "embedding": "Vectors of their memories",
    "entity": "Facts about them",
    "entity_embedding": "Vectors of these facts",
    "episode": "Memories of conversations",
    "episode_access": "How often their memories were used",
    "episode_mention": "Other people's memories that listed them",
    "episode_revision": "Earlier versions of their memories",
    "episode_revision_mention": "Earlier versions of other people's memories that listed them",
    "episode_words": "Words that their memories are found by",
    "evaluation_label": "Queries for measuring recall that expected a memory of theirs",
    "evaluation_query": "Queries of theirs for measuring recall",
    "event": "Turns and events of conversations",
    "export_chunk": "Copies of everything that were made for them",
    "feedback": "Verdicts on what they were told",
    "injection": "What agents were told in their conversations",
    "job": "Work under way for them",
    "ledger_key": "What agents were told, in fast memory (Redis)",
    "observation": "Notes",
    "observation_embedding": "Vectors of these notes",
    "observation_mention": "Other people's notes that were tagged with them",
    "observation_revision": "Earlier versions of their notes",
    "observation_revision_mention": "Earlier versions of other people's notes that were tagged with them",
    "observation_search": "Words that their notes are found by",
    "restriction": "The restriction of their memory",
    "session": "Conversations",
    "session_key": "Conversations in fast memory (Redis)",
    "session_state": "What clients kept with conversations",
    "slot_removal": "Marks that a fact about them was removed",
    "store_item": "What clients keep by names of their own",
    "store_item_mention": "Such things of nobody that were kept under their name",
    "store_vector": "Vectors that clients made of them",
    "stored_answer": "Answers kept for repeated requests",
    "stored_answer_mention": "Such answers to others that named them",
    "summary_partition": "Summaries of their memories",
    "summary_partition_of_several": "Summaries of several people's memories, theirs among them",
    "summary_run": "Requests to make such summaries",
    "summary_view": "Which of their memories are summarised",
    "summary_view_mention": "Other choices of memories that named them",
    "webhook_delivery": "What webhooks were told of them",
    "write_decision": "What was not kept, or waits for a decision",
}
# By the name of the table, for what is left there.
TABLES = {
    "agent_episodes": "Memories",
    "chat_events": "Turns and events",
    "chunk_embeddings": "Vectors of documents",
    "entity_embeddings": "Vectors of facts",
    "episode_access": "Use of memories",
    "episode_embeddings": "Vectors of memories",
    "episode_revisions": "Earlier versions of memories",
    "episode_search": "Words of memories",
    "evaluation_queries": "Queries for measuring recall",
    "knowledge_chunk": "Passages of documents",
    "knowledge_deployment": "Deployed procedures",
    "knowledge_document": "Documents",
    "knowledge_procedure": "Procedures",
    "ledger_feedback": "Verdicts on what was told",
    "ledger_injection": "What agents were told",
    "ledger_recallhour": "Times that recalls took",
    "ledger_slotremoval": "Marks of removed facts",
    "ledger_writedecision": "Decisions on what to keep",
    "observation_embeddings": "Vectors of notes",
    "observation_search": "Words of notes",
    "observations_observation": "Notes",
    "observations_observationrevision": "Earlier versions of notes",
    "redis": "Fast memory (Redis)",
    "store_items": "What clients keep by names",
    "store_vectors": "Vectors that clients made",
    "summary_partitions": "Summaries of memories",
    "summary_runs": "Requests to make summaries",
    "summary_views": "Choices of memories to be summarised",
    "tenants_agent": "Agents",
    "tenants_apikey": "Keys",
    "tenants_auditentry": "Audit log",
    "tenants_exportchunk": "Exports",
    "tenants_invitation": "Invitations",
    "tenants_job": "Jobs",
    "tenants_linkrevocation": "Void links",
    "tenants_member": "Members",
    "tenants_policyversion": "Policy",
    "tenants_providerusage": "Usage",
    "tenants_restriction": "Restrictions",
    "tenants_storedanswer": "Answers kept for repeated requests",
    "tenants_tenantembedding": "Embedding models",
    "tenants_tombstone": "Receipts",
    "user_entities": "Facts about people",
    "webhooks_delivery": "What webhooks were told",
    "webhooks_webhook": "Webhooks",
    "working_checkpoint": "Saved states of conversations",
    "working_session": "Conversations",
    "working_state": "What clients keep with conversations",
}


def name_of_store(handler: str) -> str:
    """`Memories of conversations`"""
    return STORES.get(handler, _plain(handler))


def name_of_place(place: str) -> str:
    """`Memories: metadata` of a `table.column`."""
    table, _, column = place.partition(".")
    return f"{TABLES.get(table, _plain(table))}: {_plain(column).lower()}"


def _plain(name: str) -> str:
    return name.replace("_", " ").capitalize()
