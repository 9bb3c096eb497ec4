"""Any server that speaks the OpenAI API, through the official client."""
