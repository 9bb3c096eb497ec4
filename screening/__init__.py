"""What should not be remembered: secrets, cards, health, orders to the model, and what we injected. Pure."""
