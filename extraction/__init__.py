"""Turns a window into segments, events and patches."""
