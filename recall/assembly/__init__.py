"""A turn's messages for a chat API, with what is remembered, and an account of every item.

What is pure stands below `gather`, which asks the stores, and that below `assemble`, which decides what
is told and enters it in the ledger.
"""
