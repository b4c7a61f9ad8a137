"""Board of the models: requests, answers and costs."""

from typing import Final

from deploy.grafana.panels import Dashboard, Panel, Query, quantiles

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
        Panel(title="A whole call", unit="s", queries=quantiles("varve_llm_call_seconds", "endpoint")),
        Panel(title="To the first token", unit="s", queries=quantiles("varve_llm_first_token_seconds", "endpoint")),
        Panel(title="Waiting for a turn under the limits", unit="s", queries=quantiles("varve_llm_queue_seconds", "endpoint")),
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
