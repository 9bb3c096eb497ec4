"""Agents, what is declared of them, and their tool hooks."""
