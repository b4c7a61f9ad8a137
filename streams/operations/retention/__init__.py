"""Retention: removes what tenants keep no longer, through the log."""
