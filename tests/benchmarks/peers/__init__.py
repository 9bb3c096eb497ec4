"""Strata beside others: the same conversations, embedding model, PostgreSQL and machine."""
