"""Words: text as lexemes, BM25 over them, and its ranking fused with another. Pure; imports no other app."""
