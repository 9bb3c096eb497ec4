"""Documents and procedures: what is known rather than remembered."""
