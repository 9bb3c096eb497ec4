"""Tool hooks: what an agent's declaration makes of its tool calls. They save; they never stop a call.

`rules` decides and `captions` words what is saved, both pure; `results` saves after a call, `lookups`
searches before one; `rehearsal` tells what either would do.
"""
