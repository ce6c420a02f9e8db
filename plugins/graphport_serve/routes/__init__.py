"""The REST routes of a knowledge base: parameters with their bounds, and the question each one asks."""
