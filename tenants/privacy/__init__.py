"""What a person can ask for: everything that is kept of them, and that none of it is kept any more."""
