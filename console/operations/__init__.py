"""Jobs, dead letters, webhooks: what runs behind the memory."""
