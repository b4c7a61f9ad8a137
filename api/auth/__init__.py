"""Authentication: the caller of a request, its rights, and tokens of an identity provider."""
