"""Webhooks: sends the changes of tenants' memories to their receivers."""
