"""Where memories were used, and what was not written."""
