"""Limits of the service: turns of reads, quotas, requests in progress, time-outs and connections."""
