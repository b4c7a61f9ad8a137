"""A tenant of Varve's own that uses it as an application does, for ever, and says whether it remembers."""
