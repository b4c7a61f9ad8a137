"""Overview board: alerts, objectives, the canary, rates."""

from typing import Final

from deploy.grafana.panels import Dashboard, Panel, Query, quantiles

OVERVIEW: Final = Dashboard(
    name="overview",
    title="overview",
    panels=[
        Panel(
            title="Firing alerts",
            unit="short",
            kind="stat",
            width=4,
            alarm=1,
            queries=[Query('count(ALERTS{alertstate="firing"}) or vector(0)')],
        ),
        Panel(
            title="Indexed within 60 s",
            unit="percentunit",
            kind="stat",
            width=5,
            description="Objective: 99 % over 30 days.",
            queries=[Query("1 - varve:freshness_late:ratio_rate1h or vector(1)")],
        ),
        Panel(
            title="Requests without an error",
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
            title="Dead letters per day",
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
            description="Share of the canary's questions that were answered with fresh facts. Without a canary: 1.",
            queries=[Query("min(varve_canary_score) or vector(1)")],
        ),
        Panel(
            title="Canary: time from writing a fact to recalling it",
            unit="s",
            description="Without a canary: 0.",
            queries=[
                Query(
                    "histogram_quantile(0.95, sum by (le) (rate(varve_canary_freshness_seconds_bucket[15m]))) or vector(0)",
                    "p95",
                ),
            ],
        ),
        Panel(
            title="Canary: questions per hour, by outcome",
            unit="short",
            queries=[
                Query("sum by (outcome) (increase(varve_canary_facts_total[1h])) or vector(0)", "said {{outcome}}"),
                Query("sum by (outcome) (increase(varve_canary_recalls_total[1h])) or vector(0)", "asked {{outcome}}"),
            ],
        ),
        Panel(title="Records lost", unit="short", kind="stat", width=5, alarm=1, queries=[Query("sum(varve_records_lost) or vector(0)")]),
        Panel(
            title="Messages per second",
            unit="short",
            queries=[Query('sum(rate(varve_records_total{stage="sessions",outcome="done"}[$__rate_interval]))', "messages")],
        ),
        Panel(
            title="Requests per second",
            unit="reqps",
            queries=[Query("sum by (route) (rate(varve_http_requests_total[$__rate_interval]))", "{{route}}")],
        ),
        Panel(
            title="Freshness",
            unit="s",
            description="Time from the last message of a window until its memories can be recalled.",
            queries=quantiles("varve_age_seconds", "stage"),
        ),
        Panel(title="Response time", unit="s", queries=quantiles("varve_http_request_seconds", "route")),
        Panel(
            title="Consumer lag",
            unit="short",
            queries=[Query("stage:varve_lag_records:sum", "{{stage}}")],
        ),
        Panel(title="Processes that are up", unit="short", queries=[Query('sum by (component) (up{job="varve"})', "{{component}}")]),
    ],
)
