"""The question of a recall: what it asks for, its spelling, its expansion by a model, and its vectors."""
