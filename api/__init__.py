"""The query service: the HTTP API."""
