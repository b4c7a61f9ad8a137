"""VikingDB Memory's HTTP API over Varve's own: ``VikingMem(host=..., auth=APIKey(...))`` works unchanged. A setting turns it on.

Start at :mod:`api.viking.http` for the paths, then :mod:`api.viking.operations` for what each does.
"""
