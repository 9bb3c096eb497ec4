"""A right body for each route that takes one; `{id}` is the id of a session."""

STORE = {
    "agent_id": "coder", "conversation_id": "{id}", "summary": "short", "user_id": None, "key_decisions": 1,
    "entities_mentioned": [], "tools_called": {},
}  # fmt: skip
SEARCH = {"query": "sesame", "agent_id": "coder", "user_id": None, "top_k": 100}
MESSAGE = {"id": "m1", "role": "user", "content": "hi", "created_at": "2026-01-01T00:00:00Z",
           "persisted_at": None, "discrete_memory_extracted": "f"}  # fmt: skip
MESSAGES = {"messages": [MESSAGE], "user_id": None, "namespace": None}
RECORD = {
    "id": "r1", "text": "Ana likes tea.", "session_id": None, "user_id": None, "namespace": None,
    "last_accessed": "2026-01-01T00:00:00Z", "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z", "pinned": False, "access_count": 0, "topics": ["tea"],
    "entities": ["Ana"], "memory_hash": None, "discrete_memory_extracted": "t", "memory_type": "semantic",
    "persisted_at": None, "extracted_from": None, "event_date": None, "extraction_strategy": "discrete",
    "extraction_strategy_config": {}, "metadata": {"a": 1},
}  # fmt: skip
WORKING_MEMORY = {
    "messages": [MESSAGE], "memories": [RECORD], "data": {"a": 1}, "context": None, "user_id": None,
    "namespace": None, "tokens": 0, "long_term_memory_strategy": {"strategy": "discrete", "config": {}},
    "ttl_seconds": None, "last_accessed": "2026-01-01T00:00:00Z", "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}  # fmt: skip
RECORDS = {"memories": [RECORD], "deduplicate": True}
RECORD_CHANGES = {
    "text": "Ana likes coffee.", "topics": ["coffee"], "entities": ["Ana"], "memory_type": "semantic",
    "namespace": None, "user_id": None, "session_id": None, "event_date": None, "pinned": False,
}  # fmt: skip
RECORD_SEARCH = {
    "text": "sesame", "search_mode": "semantic", "hybrid_alpha": 0.7, "topics": {"none": ["a"]},
    "memory_type": {"in_": ["semantic", "episodic", "message"]},
    "created_at": {"gte": "2020-01-01T00:00:00Z"},
    "distance_threshold": None, "limit": 100, "offset": 0, "recency_boost": None,
    "recency_half_life_created_days": 30, "include_working_memory": True,
    "filters": {"user_id": {"ne": "nobody"}},
}  # fmt: skip
PROMPT = {
    "query": "sesame",
    "session": {"session_id": "{id}", "namespace": None, "user_id": None, "context_window_max": "4000"},
    "long_term_search": {"limit": 100, "user_id": {"ne": "nobody"}},
}  # fmt: skip
SUMMARY_VIEW = {
    "name": "by user", "source": "long_term", "group_by": ["user_id", "memory_type"],
    "filters": {"topics": {"any": ["tea"]}, "memory_type": "semantic", "namespace": ["a", "b"]},
    "time_window_days": 30, "continuous": False, "prompt": "What matters?", "model_name": "gpt-4o-mini",
}  # fmt: skip
RUN_SUMMARY = {"group": {"namespace": ""}}
RUN_SUMMARY_VIEW = {"task_id": None, "force": True}
FORGET = {
    "policy": {"max_age_days": 36_500, "max_inactive_days": 36_500, "budget": 100_000,
               "memory_type_allowlist": ["semantic"], "hard_age_multiplier": 12},
    "pinned_ids": ["r1"],
}  # fmt: skip
TURN = {"id": "t1", "role": "user", "content": "hi", "tool_calls": [], "tool_call_id": "x", "name": "n",
        "created_at": "2026-01-01T00:00:00Z", "metadata": {"a": 1}}  # fmt: skip
TURNS = {"user_id": None, "agent_id": None, "turns": [TURN]}
EVENT = {
    "event_id": "e1",
    "event_type": "note",
    "content": {"any": ["thing"]},
    "timestamp": None,
    "metadata": {},
}
SESSION = {
    "session_id": "{id}",
    "user_id": None,
    "agent_id": None,
    "project": None,
    "namespace": None,
    "metadata": {},
}
EPISODE = {
    "text": "short", "user_id": None, "agent_id": None, "session_id": "{id}", "memory_type": "semantic",
    "topics": ["a"], "entities": ["b"], "outcome": "fine", "event_date": None, "valid_from": None,
    "metadata": {},
}  # fmt: skip
CHANGE = {
    "text": "other", "topics": ["a"], "entities": ["b"], "outcome": "fine", "event_date": None,
    "metadata": {},
}  # fmt: skip
RECALL = {
    "query": "sesame", "user_id": None, "agent_id": None, "session_id": "{id}", "project": None,
    "memory_type": ["semantic"], "topics": ["a"], "since": None, "until": None, "as_of": None, "top_k": 200,
    "explain": True,
}  # fmt: skip

REMEMBER = {
    "session_id": "{id}", "user_id": "alice", "agent_id": None, "user_message": "My name is Alice.",
    "assistant_message": "Hello.",
}  # fmt: skip

AGENT = {
    "memory": {
        "serverRef": "memory", "project": "apollo", "contextLimit": 5, "windowSize": 20,
        "autoSummarize": True, "autoSave": True, "autoSearch": True,
    },
    "toolHooks": {
        "blockedCommands": ["rm -rf"], "allowedPaths": ["/data"], "auditTools": ["bash"],
        "memorySaveRules": [
            {"tool": "bash", "matchOutput": "error", "matchArgs": {"command": "^git "}, "type": "bugfix",
             "scope": "global"},
        ],
        "contextInjectTools": [{"tool": "bash", "query": "sesame", "limit": 10}],
    },
    "kaos": {"enabled": True, "type": "redis", "contextLimit": 6, "maxSessions": 10, "maxSessionEvents": 50},
}  # fmt: skip
BEFORE_TOOL = {
    "agent": "coder", "session_id": "{id}", "user_id": None, "tool": "bash", "args": {"command": "git pull"},
}  # fmt: skip
TOOL_RESULT = BEFORE_TOOL | {"output": "an error", "error": None, "duration_ms": 12}
ASSEMBLE = {
    "session_id": "{id}", "user_id": None, "agent_id": None, "query": "sesame", "system": "Be brief.",
    "token_budget": 1_000, "dedupe": True, "environment": None, "procedures": [],
    "include": ["session", "summary", "window"],  # which a key that only reads may ask for, too
}  # fmt: skip
FEEDBACK = {
    "injection_id": None, "kind": "observation", "memory_id": "999999999999999999", "session_id": "{id}",
    "verdict": "helpful", "note": "why",
}  # fmt: skip
SAVED_QUERY = {
    "text": "sesame", "user_id": "alice", "agent_id": None, "session_id": "{id}", "relevant": [],
}  # fmt: skip
LABELS: dict[str, list[str]] = {"relevant": []}
SLOT = {
    "value": {"any": ["thing"]}, "confidence": 0.9, "source": "form", "agent_id": None,
    "source_session": "{id}", "source_turn": 1, "valid_from": "2020-01-01T00:00:00Z",
}  # fmt: skip
DOCUMENT = {
    "title": "Short", "content": "# Short\n\nOpen sesame.", "source": "shelf/short.md", "media_type": None,
    "project": None, "user_id": None, "metadata": {"a": ["b"]},
}  # fmt: skip
WEBHOOK = {
    "url": "https://93.184.215.14/hook", "description": "why", "events": ["subject.erased"],
    "kinds": ["document"], "agent_id": "nobody", "project": "", "include_text": False, "is_active": False,
}  # fmt: skip
DOCUMENT_SEARCH = {
    "query": "sesame", "top_k": 3, "user_id": None,
    "filters": {"project": None, "source": None, "title": None, "metadata": {}},
}  # fmt: skip
POLICY = {"agent_id": None, "document": {"recall": {"top_k": 7}}, "version": None, "note": "why"}
ROLLBACK = {"agent_id": None, "to": 0, "version": None, "note": "why"}

NOTE = {
    "session_id": "{id}", "type": "decision", "title": "Short", "content": "short", "project": "apollo",
    "scope": "project", "topic_key": "a/b", "tags": ["a"],
}  # fmt: skip
EXPORTED = {
    "exported_at": "2026-01-01T00:00:00Z",
    "sessions": [
        {"id": "imported", "project": "apollo", "started_at": "2026-01-01T00:00:00Z", "message_count": 2,
         "ended_at": "2026-01-01T01:00:00Z", "summary": "short"},
    ],
    "observations": [
        {"id": 7, "session_id": "imported", "type": "decision", "title": "Short", "content": "imported",
         "tags": ["a"], "project": "apollo", "scope": "project", "topic_key": "i/j",
         "revision_count": 1, "duplicate_count": 1, "last_seen_at": "2026-01-01T00:00:00Z",
         "promoted_to": "", "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"},
    ],
}  # fmt: skip
ITEM = {
    "namespace": ["notes"],
    "key": "sesame",
    "value": {"text": "Sesame opens it."},
    "index": ["text"],
    "ttl": None,
    "vectors": [],
    "user_id": "alice",
    "agent_id": None,
    "project": None,
}
