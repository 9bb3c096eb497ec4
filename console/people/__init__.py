"""The people whom the memory is about."""
