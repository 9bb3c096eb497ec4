"""A right body for each route that takes one; `{id}` is the id of a session."""

STORE = {
    "agent_id": "coder", "conversation_id": "{id}", "summary": "short", "user_id": None, "key_decisions": 1,
    "entities_mentioned": [], "tools_called": {},
}  # fmt: skip
SEARCH = {"query": "sesame", "agent_id": "coder", "user_id": None, "top_k": 100}
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
SLOT = {
    "value": {"any": ["thing"]}, "confidence": 0.9, "source": "form", "agent_id": None,
    "source_session": "{id}", "source_turn": 1, "valid_from": "2020-01-01T00:00:00Z",
}  # fmt: skip
DOCUMENT = {
    "title": "Short", "content": "# Short\n\nOpen sesame.", "source": "shelf/short.md", "media_type": None,
    "project": None, "user_id": None, "metadata": {"a": ["b"]},
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
