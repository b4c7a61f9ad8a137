"""Board of the stages: work, delay, state."""

from typing import Final

from deploy.grafana.panels import Dashboard, Panel, Query, quantiles

STAGES: Final = Dashboard(
    name="stages",
    title="stages",
    panels=[
        Panel(title="Records per second", unit="short", queries=[Query("stage:varve_records_done:rate5m", "{{stage}}")]),
        Panel(title="Consumer lag", unit="short", queries=[Query("stage:varve_lag_records:sum", "{{stage}}")]),
        Panel(
            title="Record age after each stage",
            unit="s",
            description="The first stage with a high age is the bottleneck; later stages inherit its delay.",
            queries=quantiles("varve_age_seconds", "stage"),
        ),
        Panel(title="Handling time of a record", unit="s", queries=quantiles("varve_handling_seconds", "stage")),
        Panel(
            title="Age of the oldest unacknowledged record",
            unit="s",
            description="Without an unacknowledged record: 0.",
            queries=[Query("stage:varve_oldest_unacknowledged_seconds:max or vector(0)", "{{stage}}")],
        ),
        Panel(
            title="Time until retention deletes unread records",
            unit="s",
            queries=[Query("min by (stage) (varve_retention_left_seconds) or vector(604800)", "{{stage}}")],
        ),
        Panel(title="Records in flight", unit="short", queries=[Query("sum by (stage) (varve_in_flight)", "{{stage}}")]),
        Panel(
            title="Retries per second",
            unit="short",
            queries=[Query("sum by (stage) (rate(varve_retries_total[$__rate_interval])) or vector(0)", "{{stage}}")],
        ),
        Panel(
            title="Records per second with another outcome than done",
            unit="short",
            queries=[
                Query(
                    'sum by (stage, outcome) (rate(varve_records_total{outcome!="done"}[$__rate_interval])) or vector(0)',
                    "{{stage}} {{outcome}}",
                )
            ],
        ),
        Panel(
            title="Dead letters per hour",
            unit="short",
            queries=[Query("sum by (stage, reason) (increase(varve_dead_letters_total[1h])) or vector(0)", "{{stage}} {{reason}}")],
        ),
        Panel(
            title="Failed readiness checks",
            unit="short",
            queries=[Query("count by (component, check) (varve_ready == 0) or vector(0)", "{{component}} {{check}}")],
        ),
        Panel(
            title="Remaining restore time",
            unit="s",
            description="Without a restore: 0.",
            queries=[Query("max by (stage) (varve_restore_left_seconds) or vector(0)", "{{stage}}")],
        ),
        Panel(
            title="Restore progress",
            unit="percentunit",
            description="Without a restore: 1.",
            queries=[Query("min by (stage) (varve_restore_done_ratio) or vector(1)", "{{stage}}")],
        ),
        Panel(
            title="Rows left to restore",
            unit="short",
            queries=[Query("sum by (stage) (varve_restore_left_rows) or vector(0)", "{{stage}}")],
        ),
        Panel(title="Size of local tables", unit="bytes", queries=[Query("sum by (stage) (varve_table_bytes)", "{{stage}}")]),
        Panel(
            title="Event time delay",
            unit="s",
            description="Delay of the slowest partition. A backfill of old messages shows their age.",
            queries=[Query("max by (stage) (varve_watermark_delay_seconds)", "{{stage}}")],
        ),
        Panel(
            title="Messages per second, by tenant",
            unit="short",
            queries=[Query("sum by (tenant) (rate(varve_tenant_messages_total[$__rate_interval]))", "{{tenant}}")],
        ),
        Panel(
            title="Free disk space",
            unit="percentunit",
            queries=[Query('min by (component) (varve_disk_free_bytes{component!="service"} / varve_disk_size_bytes)', "{{component}}")],
        ),
        Panel(
            title="CPU",
            unit="short",
            description="Cores in use, per process.",
            queries=[Query('rate(process_cpu_seconds_total{job="varve"}[$__rate_interval])', "{{component}} {{instance}}")],
        ),
        Panel(
            title="Resident memory",
            unit="bytes",
            queries=[Query('process_resident_memory_bytes{job="varve"}', "{{component}} {{instance}}")],
        ),
    ],
)
