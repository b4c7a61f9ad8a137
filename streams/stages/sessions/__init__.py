"""The sessions stage: messages in, closed windows out.

Start at :mod:`streams.stages.sessions.windows`, the rules that close a window, and :mod:`streams.stages.sessions.handler`.
"""
