"""Grafana's dashboards as code: what each shows, and their form in JSON."""
