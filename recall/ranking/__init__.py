"""What speaks for a memory as the answer to a query, and how much each of it counts. Pure."""
