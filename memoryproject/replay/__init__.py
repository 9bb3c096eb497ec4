"""Plays a recorded conversation through a running server, as an agent would, and asks it questions."""
