"""Delivers records to stages: nothing lost, nothing twice, in order. Knows no stage."""
