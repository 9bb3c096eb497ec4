"""`make bench`: what the running server costs beside its floor. Never a test that can fail by the clock."""
