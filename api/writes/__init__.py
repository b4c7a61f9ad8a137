"""Writes: messages, corrections, blocks, erasures and changes of the control log, each once however often it is sent."""
