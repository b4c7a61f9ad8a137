"""Data of the scenarios that ship: one schema (JSON) and one sample conversation (JSON lines) each."""
