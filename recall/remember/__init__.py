"""What a turn leaves in memory: facts about the user and highlights, extracted, gated, written.

`rules` and what it stands on is pure, and finds what people say of themselves without a model. `extraction`
asks the language model if there is one, `gating` sorts the candidates, `writing` writes them in one commit.
`remember` and `queue` are the ways in.
"""
