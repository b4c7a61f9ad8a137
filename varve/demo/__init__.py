"""``varve demo``: a conversation through the whole of Varve, and questions to what became of it."""
