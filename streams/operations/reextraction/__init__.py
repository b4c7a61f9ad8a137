"""Re-extraction of all history: a generation is built from all windows of tenants, within a budget, while the live one serves.

The control log says which re-extractions there are and in which state (:mod:`control.reextraction`). A worker, a separate process,
follows the control log and does the work (:mod:`streams.operations.reextraction.worker`). It keeps no state: its consumer group has the
position, Redis has the usage, and the topic ``usage`` has each call.
"""
