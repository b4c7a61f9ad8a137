"""Board of the stages: work, delay, state."""

from typing import Final

from deploy.grafana.panels import Dashboard, Panel, Query, quantiles

STAGES: Final = Dashboard(
    name="stages",
    title="stages",
    panels=[
        Panel(title="Records a second", unit="short", queries=[Query("stage:varve_records_done:rate5m", "{{stage}}")]),
        Panel(title="Records behind", unit="short", queries=[Query("stage:varve_lag_records:sum", "{{stage}}")]),
        Panel(
            title="Age when a stage is done",
            unit="s",
            tells="The first stage of which it is high is where things wait; those behind inherit it.",
            queries=quantiles("varve_age_seconds", "stage"),
        ),
        Panel(title="From taking a record in to finishing it", unit="s", queries=quantiles("varve_handling_seconds", "stage")),
        Panel(
            title="Age of the oldest record that is not acknowledged",
            unit="s",
            tells="Missing where none is open.",
            queries=[Query("stage:varve_oldest_unacknowledged_seconds:max or vector(0)", "{{stage}}")],
        ),
        Panel(
            title="Time until Kafka may delete it",
            unit="s",
            queries=[Query("min by (stage) (varve_retention_left_seconds) or vector(604800)", "{{stage}}")],
        ),
        Panel(title="In flight", unit="short", queries=[Query("sum by (stage) (varve_in_flight)", "{{stage}}")]),
        Panel(
            title="Tries after the first, a second",
            unit="short",
            queries=[Query("sum by (stage) (rate(varve_retries_total[$__rate_interval])) or vector(0)", "{{stage}}")],
        ),
        Panel(
            title="What else became of records, a second",
            unit="short",
            queries=[
                Query(
                    'sum by (stage, outcome) (rate(varve_records_total{outcome!="done"}[$__rate_interval])) or vector(0)',
                    "{{stage}} {{outcome}}",
                )
            ],
        ),
        Panel(
            title="Put aside, an hour",
            unit="short",
            queries=[Query("sum by (stage, reason) (increase(varve_dead_letters_total[1h])) or vector(0)", "{{stage}} {{reason}}")],
        ),
        Panel(
            title="Conditions of readiness that do not hold",
            unit="short",
            queries=[Query("count by (component, check) (varve_ready == 0) or vector(0)", "{{component}} {{check}}")],
        ),
        Panel(
            title="Time that restores will still take",
            unit="s",
            tells="Zero where none runs.",
            queries=[Query("max by (stage) (varve_restore_left_seconds) or vector(0)", "{{stage}}")],
        ),
        Panel(
            title="Restores, share that is done",
            unit="percentunit",
            tells="One where none runs.",
            queries=[Query("min by (stage) (varve_restore_done_ratio) or vector(1)", "{{stage}}")],
        ),
        Panel(
            title="Rows that restores have still to read",
            unit="short",
            queries=[Query("sum by (stage) (varve_restore_left_rows) or vector(0)", "{{stage}}")],
        ),
        Panel(title="Size of the tables", unit="bytes", queries=[Query("sum by (stage) (varve_table_bytes)", "{{stage}}")]),
        Panel(
            title="Event time behind the clock",
            unit="s",
            tells="Of the partition that is furthest behind; a backfill of old messages is as old as they are.",
            queries=[Query("max by (stage) (varve_watermark_delay_seconds)", "{{stage}}")],
        ),
        Panel(
            title="Messages by tenant, a second",
            unit="short",
            queries=[Query("sum by (tenant) (rate(varve_tenant_messages_total[$__rate_interval]))", "{{tenant}}")],
        ),
        Panel(
            title="Disk that is free",
            unit="percentunit",
            queries=[Query('min by (component) (varve_disk_free_bytes{component!="service"} / varve_disk_size_bytes)', "{{component}}")],
        ),
        Panel(
            title="CPU",
            unit="short",
            tells="Cores in use, per process.",
            queries=[Query('rate(process_cpu_seconds_total{job="varve"}[$__rate_interval])', "{{component}} {{instance}}")],
        ),
        Panel(
            title="Resident memory",
            unit="bytes",
            queries=[Query('process_resident_memory_bytes{job="varve"}', "{{component}} {{instance}}")],
        ),
    ],
)
