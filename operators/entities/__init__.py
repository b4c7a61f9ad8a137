"""Entities: which events feed them, their state, its history and corrections, and the memories made of it."""
