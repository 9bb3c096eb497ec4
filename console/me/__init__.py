"""A person's own pages: what is remembered about them, and what they may do about it."""
