"""mem0's HTTP API over Varve's own: ``MemoryClient(host=".../mem0")`` works unchanged. A setting turns it on.

Start at :mod:`api.mem0.http` for the paths, then :mod:`api.mem0.operations` for what each does.
"""
