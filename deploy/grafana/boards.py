"""The four dashboards. ``or vector(0)`` stands where there is no series as long as all is well."""

from typing import Final

from deploy.grafana.panels import Dashboard, Panel, Query

_RECALLS: Final = 'varve_http_request_seconds_bucket{route="/v1/recall"}'


def _quantiles(histogram: str, by: str) -> list[Query]:
    return [
        Query(f"histogram_quantile({q}, sum by ({by}, le) (rate({histogram}_bucket[$__rate_interval])))", f"p{q * 100:.0f} {{{{{by}}}}}")
        for q in (0.5, 0.95)
    ]


OVERVIEW: Final = Dashboard(
    name="overview",
    title="overview",
    panels=[
        Panel(
            title="Alerts that fire",
            unit="short",
            kind="stat",
            width=4,
            alarm=1,
            queries=[Query('count(ALERTS{alertstate="firing"}) or vector(0)')],
        ),
        Panel(
            title="In the index within 60 s",
            unit="percentunit",
            kind="stat",
            width=5,
            tells="The objective is 99 of 100, over 30 days.",
            queries=[Query("1 - varve:freshness_late:ratio_rate1h or vector(1)")],
        ),
        Panel(
            title="Requests answered without an error",
            unit="percentunit",
            kind="stat",
            width=5,
            queries=[
                Query(
                    '1 - (sum(rate(varve_http_requests_total{status=~"5.."}[1h])) or vector(0)) / sum(rate(varve_http_requests_total[1h]))',
                )
            ],
        ),
        Panel(
            title="Dead letters in a day",
            unit="short",
            kind="stat",
            width=5,
            alarm=1,
            queries=[Query("sum(increase(varve_dead_letters_total[1d])) or vector(0)")],
        ),
        Panel(
            title="Canary",
            unit="percentunit",
            kind="stat",
            width=4,
            tells="Share of its questions that are answered, freshly enough; one where no canary runs.",
            queries=[Query("min(varve_canary_score) or vector(1)")],
        ),
        Panel(
            title="Canary, from saying a fact to recalling it",
            unit="s",
            tells="Zero where no canary runs.",
            queries=[
                Query(
                    "histogram_quantile(0.95, sum by (le) (rate(varve_canary_freshness_seconds_bucket[15m]))) or vector(0)",
                    "p95",
                ),
            ],
        ),
        Panel(
            title="Canary, by outcome, an hour",
            unit="short",
            queries=[
                Query("sum by (outcome) (increase(varve_canary_facts_total[1h])) or vector(0)", "said {{outcome}}"),
                Query("sum by (outcome) (increase(varve_canary_recalls_total[1h])) or vector(0)", "asked {{outcome}}"),
            ],
        ),
        Panel(title="Records lost", unit="short", kind="stat", width=5, alarm=1, queries=[Query("sum(varve_records_lost) or vector(0)")]),
        Panel(
            title="Messages a second",
            unit="short",
            queries=[Query('sum(rate(varve_records_total{stage="sessions",outcome="done"}[$__rate_interval]))', "messages")],
        ),
        Panel(
            title="Requests a second",
            unit="reqps",
            queries=[Query("sum by (route) (rate(varve_http_requests_total[$__rate_interval]))", "{{route}}")],
        ),
        Panel(
            title="From message to index",
            unit="s",
            tells="From the message that ended a window until what came of it can be recalled.",
            queries=_quantiles("varve_age_seconds", "stage"),
        ),
        Panel(title="Time to answer", unit="s", queries=_quantiles("varve_http_request_seconds", "route")),
        Panel(
            title="Records behind",
            unit="short",
            queries=[Query("stage:varve_lag_records:sum", "{{stage}}")],
        ),
        Panel(title="Processes that answer", unit="short", queries=[Query('sum by (component) (up{job="varve"})', "{{component}}")]),
    ],
)

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
            queries=_quantiles("varve_age_seconds", "stage"),
        ),
        Panel(title="From taking a record in to finishing it", unit="s", queries=_quantiles("varve_handling_seconds", "stage")),
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

LLM: Final = Dashboard(
    name="llm",
    title="LLM cost",
    panels=[
        Panel(
            title="Tokens a second",
            unit="short",
            queries=[Query("sum by (model, kind) (rate(varve_llm_tokens_total[$__rate_interval]))", "{{model}} {{kind}}")],
        ),
        Panel(
            title="Cost an hour",
            unit="short",
            tells="In the price table's currency; 0 without one.",
            queries=[
                Query("sum by (stage, model) (rate(varve_llm_cost_total[$__rate_interval])) * 3600 or vector(0)", "{{stage}} {{model}}")
            ],
        ),
        Panel(
            title="Tokens a window",
            unit="short",
            queries=[
                Query(
                    'sum(rate(varve_llm_tokens_total[5m])) / sum(stage:varve_records_done:rate5m{stage="extraction"} > 0)',
                    "tokens",
                )
            ],
        ),
        Panel(
            title="Prompt tokens out of a prefix cache",
            unit="percentunit",
            queries=[
                Query(
                    "model:varve_llm_tokens_cached:ratio_rate5m",
                    "{{model}}",
                )
            ],
        ),
        Panel(
            title="Calls a second",
            unit="reqps",
            queries=[Query("sum by (endpoint, outcome) (rate(varve_llm_calls_total[$__rate_interval]))", "{{endpoint}} {{outcome}}")],
        ),
        Panel(
            title="Where answers came from, a second",
            unit="short",
            queries=[Query("sum by (source) (rate(varve_llm_answers_total[$__rate_interval]))", "{{source}}")],
        ),
        Panel(title="A whole call", unit="s", queries=_quantiles("varve_llm_call_seconds", "endpoint")),
        Panel(title="To the first token", unit="s", queries=_quantiles("varve_llm_first_token_seconds", "endpoint")),
        Panel(title="Waiting for a turn under the limits", unit="s", queries=_quantiles("varve_llm_queue_seconds", "endpoint")),
        Panel(title="Endpoints left alone", unit="short", alarm=1, queries=[Query("varve_llm_breaker_open or vector(0)", "{{endpoint}}")]),
        Panel(
            title="Calls not made for a budget, an hour",
            unit="short",
            queries=[Query("sum by (budget) (increase(varve_llm_budget_refusals_total[1h])) or vector(0)", "{{budget}}")],
        ),
        Panel(
            title="Windows of which nothing came",
            unit="percentunit",
            tells="Accepted and paid for, and nothing is remembered of them.",
            queries=[Query("varve:windows_without_yield:ratio_rate1h or vector(0)", "share")],
        ),
        Panel(
            title="Tokens by tenant, a second",
            unit="short",
            queries=[Query("sum by (tenant) (rate(varve_tenant_llm_tokens_total[$__rate_interval]))", "{{tenant}}")],
        ),
        Panel(
            title="Tokens for a memory that is ever recalled",
            unit="short",
            tells="A day's tokens by the memories that were recalled for the first time that day.",
            queries=[Query("varve:llm_tokens_per_recalled_memory:ratio_increase1d", "tokens")],
        ),
        Panel(title="Parked records", unit="short", queries=[Query("sum by (stage) (varve_parked_records)", "{{stage}}")]),
        Panel(
            title="Windows a second",
            unit="short",
            queries=[Query('sum(rate(varve_records_total{stage="extraction",outcome="done"}[$__rate_interval]))', "windows")],
        ),
    ],
)

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
        Panel(title="Time that a path takes", unit="s", queries=_quantiles("varve_recall_path_seconds", "path")),
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

DASHBOARDS: Final = (OVERVIEW, STAGES, LLM, RECALL)
