"""Episodes and entity slots."""
