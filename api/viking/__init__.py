"""VikingDB Memory's HTTP API over Varve's own: ``VikingMem(host=..., auth=APIKey(...))`` works unchanged. A setting turns it on."""
