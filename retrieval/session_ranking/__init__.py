"""Think and rank (MemSifter): a reasoning proxy model reads a user's sessions and says which of them answer a query."""
