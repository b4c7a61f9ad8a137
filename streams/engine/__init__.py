"""Delivers records to stages exactly once and in order. Knows no stage."""
