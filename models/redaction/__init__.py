"""Personal data in texts for hosted models: found, replaced by placeholders, and put back into answers.

Start at :mod:`models.redaction.llm`; :mod:`models.redaction.detection` says what is found.
"""
