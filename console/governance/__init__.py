"""Policy, keys, members, privacy, audit, isolation."""
