"""Trying recall, and seeing why a memory comes back."""
