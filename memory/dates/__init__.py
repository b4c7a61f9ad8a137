"""Dates: how exactly one is known, and what the words for one mean on the day they are said.

Start at :mod:`memory.dates.mentions` for the dates of a message, and :mod:`memory.dates.query_dates` for those of a question. The readings
are a module for each form of date.
"""
