"""How the memory of a tenant is doing."""
