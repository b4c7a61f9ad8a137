"""Dates: how exactly one is known, and what the words for one mean on the day they are said."""
