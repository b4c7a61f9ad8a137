"""Memories that repeat, contain or replace each other: each fact is returned once, in its current state."""
