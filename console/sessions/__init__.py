"""Conversations, and what was told in them."""
