"""Board of the recalls: latency, paths, queues."""

from typing import Final

from deploy.grafana.panels import Dashboard, Panel, Query, quantiles

_RECALLS: Final = 'varve_http_request_seconds_bucket{route="/v1/recall"}'

RECALL: Final = Dashboard(
    name="recall",
    title="recall",
    panels=[
        Panel(
            title="Recalls a second",
            unit="reqps",
            queries=[Query('sum by (status) (rate(varve_http_requests_total{route="/v1/recall"}[$__rate_interval]))', "{{status}}")],
        ),
        Panel(
            title="Time to answer a recall",
            unit="s",
            queries=[
                Query(f"histogram_quantile({q}, sum by (le) (rate({_RECALLS}[$__rate_interval])))", f"p{q * 100:.0f}")
                for q in (0.5, 0.95, 0.99)
            ],
        ),
        Panel(
            title="Reads, by what became of them",
            unit="reqps",
            queries=[Query("sum by (outcome) (rate(varve_reads_total[$__rate_interval]))", "{{outcome}}")],
        ),
        Panel(
            title="Waiting for a turn",
            unit="s",
            queries=[
                Query(f"histogram_quantile({q}, sum by (le) (rate(varve_read_queue_seconds_bucket[$__rate_interval])))", f"p{q * 100:.0f}")
                for q in (0.5, 0.95)
            ],
        ),
        Panel(
            title="Reads that run and wait",
            unit="short",
            queries=[Query("sum(varve_reads_running)", "running"), Query("sum(varve_reads_waiting)", "waiting")],
        ),
        Panel(
            title="Paths of recalls, a second",
            unit="short",
            queries=[Query("sum by (path, outcome) (rate(varve_recall_paths_total[$__rate_interval]))", "{{path}} {{outcome}}")],
        ),
        Panel(title="Time that a path takes", unit="s", queries=quantiles("varve_recall_path_seconds", "path")),
        Panel(
            title="Recalls by tenant, a second",
            unit="reqps",
            queries=[Query("sum by (tenant) (rate(varve_tenant_recalls_total[$__rate_interval]))", "{{tenant}}")],
        ),
        Panel(title="Points in the store", unit="short", queries=[Query("max by (kind) (varve_store_points)", "{{kind}}")]),
        Panel(
            title="Size of the store on disk",
            unit="bytes",
            tells="Of Qdrant Edge; a server's is its volume's.",
            queries=[Query("max by (kind) (varve_store_bytes) or vector(0)", "{{kind}}")],
        ),
        Panel(
            title="Recalls told to the stream, a second",
            unit="short",
            tells="What is dropped may be extracted again as an echo.",
            queries=[Query("sum by (outcome) (rate(varve_recall_records_total[$__rate_interval]))", "{{outcome}}")],
        ),
        Panel(
            title="Refused for a quota, a second",
            unit="short",
            queries=[Query("sum by (quota) (rate(varve_quota_refusals_total[$__rate_interval])) or vector(0)", "{{quota}}")],
        ),
        Panel(title="Open connections", unit="short", queries=[Query("sum(varve_http_connections)", "open")]),
        Panel(
            title="How long ago the control log was known",
            unit="s",
            queries=[Query("max by (component) (varve_control_age_seconds)", "{{component}}")],
        ),
    ],
)
