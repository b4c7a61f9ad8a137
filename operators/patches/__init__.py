"""PATCH: a text that SEARCH/REPLACE patches edit."""
