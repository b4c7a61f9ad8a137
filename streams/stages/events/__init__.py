"""The events stage: extractions in, memories and contributions out.

Start at :mod:`streams.stages.events.handler`; :mod:`streams.stages.events.ledger` is what the stage remembers.
"""
