"""mem0's HTTP API over Varve's own: ``MemoryClient(host=".../mem0")`` works unchanged. A setting turns it on."""
