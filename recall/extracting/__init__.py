"""What sessions that clients send as a whole leave in long-term memory, by the strategy that each names.

`discrete`, `preferences`, `summary` and `custom` each find candidates, by the language model or, without one,
by rules; `strategies` picks one, `judging` sorts what it finds, `jobs` does it after the session has been
quiet for a while, in one commit with the note how far it has come.
"""
