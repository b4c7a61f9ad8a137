"""Board of the recalls: latency, paths, queues."""

from typing import Final

from deploy.grafana.panels import Dashboard, Panel, Query, quantiles

_RECALLS: Final = 'varve_http_request_seconds_bucket{route="/v1/recall"}'

RECALL: Final = Dashboard(
    name="recall",
    title="recall",
    panels=[
        Panel(
            title="Recalls per second",
            unit="reqps",
            queries=[Query('sum by (status) (rate(varve_http_requests_total{route="/v1/recall"}[$__rate_interval]))', "{{status}}")],
        ),
        Panel(
            title="Response time of recalls",
            unit="s",
            queries=[
                Query(f"histogram_quantile({q}, sum by (le) (rate({_RECALLS}[$__rate_interval])))", f"p{q * 100:.0f}")
                for q in (0.5, 0.95, 0.99)
            ],
        ),
        Panel(
            title="Reads per second, by outcome",
            unit="reqps",
            queries=[Query("sum by (outcome) (rate(varve_reads_total[$__rate_interval]))", "{{outcome}}")],
        ),
        Panel(
            title="Wait for a read slot",
            unit="s",
            queries=[
                Query(f"histogram_quantile({q}, sum by (le) (rate(varve_read_queue_seconds_bucket[$__rate_interval])))", f"p{q * 100:.0f}")
                for q in (0.5, 0.95)
            ],
        ),
        Panel(
            title="Running and waiting reads",
            unit="short",
            queries=[Query("sum(varve_reads_running)", "running"), Query("sum(varve_reads_waiting)", "waiting")],
        ),
        Panel(
            title="Recall paths per second, by outcome",
            unit="short",
            queries=[Query("sum by (path, outcome) (rate(varve_recall_paths_total[$__rate_interval]))", "{{path}} {{outcome}}")],
        ),
        Panel(title="Duration of recall paths", unit="s", queries=quantiles("varve_recall_path_seconds", "path")),
        Panel(
            title="Recalls per second, by tenant",
            unit="reqps",
            queries=[Query("sum by (tenant) (rate(varve_tenant_recalls_total[$__rate_interval]))", "{{tenant}}")],
        ),
        Panel(title="Points in the store", unit="short", queries=[Query("max by (kind) (varve_store_points)", "{{kind}}")]),
        Panel(
            title="Size of the store on disk",
            unit="bytes",
            description="Only Qdrant Edge. For a Qdrant server, watch its volume.",
            queries=[Query("max by (kind) (varve_store_bytes) or vector(0)", "{{kind}}")],
        ),
        Panel(
            title="Recall records per second, by outcome",
            unit="short",
            description="Content of a recall whose record was dropped may be extracted again.",
            queries=[Query("sum by (outcome) (rate(varve_recall_records_total[$__rate_interval]))", "{{outcome}}")],
        ),
        Panel(
            title="Requests refused by quotas, per second",
            unit="short",
            queries=[Query("sum by (quota) (rate(varve_quota_refusals_total[$__rate_interval])) or vector(0)", "{{quota}}")],
        ),
        Panel(title="Open connections", unit="short", queries=[Query("sum(varve_http_connections)", "open")]),
        Panel(
            title="Age of the control log view",
            unit="s",
            queries=[Query("max by (component) (varve_control_age_seconds)", "{{component}}")],
        ),
    ],
)
