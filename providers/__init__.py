"""What Strata asks of models: embeddings now, language models later. Imports no other app."""
