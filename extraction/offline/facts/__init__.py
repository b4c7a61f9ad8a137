"""Facts about people: read from their sentences, corrected, ended, and written to the fields of a profile.

Start at :mod:`extraction.offline.facts.profile_facts`.
"""
