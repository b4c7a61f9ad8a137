"""Faust: the application, its consumer and its rebalance signals.

Start at :mod:`streams.engine.faust.app`; :mod:`streams.engine.faust.consumer` says what differs from Faust's own.
"""
