"""Programs that run in the peers' own environments: they import a peer and nothing of this project."""
