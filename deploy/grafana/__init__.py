"""Grafana's dashboards as code: what each shows, and their form in JSON.

Start at a board in ``deploy/grafana/boards/``.
"""
