"""What a tenant decides for itself and for its agents: one validated document, kept in versions.

`document` says what there is to decide, `overrides` changes and compares what was decided, `versions` stores
it, `reading` answers what holds now. Each level holds only what differs from the one above it: the
deployment's settings, then the tenant, then the agent.
"""
