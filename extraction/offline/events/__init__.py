"""The parts of an event: its type, properties, keywords and texts."""
