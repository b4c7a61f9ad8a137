"""Board of the models: requests, answers and costs."""

from typing import Final

from deploy.grafana.panels import Dashboard, Panel, Query, quantiles

LLM: Final = Dashboard(
    name="llm",
    title="LLM cost",
    panels=[
        Panel(
            title="Tokens per second",
            unit="short",
            queries=[Query("sum by (model, kind) (rate(varve_llm_tokens_total[$__rate_interval]))", "{{model}} {{kind}}")],
        ),
        Panel(
            title="Cost per hour",
            unit="short",
            description="In the currency of the price table. Without a price table: 0.",
            queries=[
                Query("sum by (stage, model) (rate(varve_llm_cost_total[$__rate_interval])) * 3600 or vector(0)", "{{stage}} {{model}}")
            ],
        ),
        Panel(
            title="Tokens per window",
            unit="short",
            queries=[
                Query(
                    'sum(rate(varve_llm_tokens_total[5m])) / sum(stage:varve_records_done:rate5m{stage="extraction"} > 0)',
                    "tokens",
                )
            ],
        ),
        Panel(
            title="Prompt tokens from a prefix cache",
            unit="percentunit",
            queries=[
                Query(
                    "model:varve_llm_tokens_cached:ratio_rate5m",
                    "{{model}}",
                )
            ],
        ),
        Panel(
            title="Calls per second",
            unit="reqps",
            queries=[Query("sum by (endpoint, outcome) (rate(varve_llm_calls_total[$__rate_interval]))", "{{endpoint}} {{outcome}}")],
        ),
        Panel(
            title="Answers per second, by source",
            unit="short",
            queries=[Query("sum by (source) (rate(varve_llm_answers_total[$__rate_interval]))", "{{source}}")],
        ),
        Panel(title="Duration of a call", unit="s", queries=quantiles("varve_llm_call_seconds", "endpoint")),
        Panel(title="Time to first token", unit="s", queries=quantiles("varve_llm_first_token_seconds", "endpoint")),
        Panel(title="Wait for the concurrency and rate limits", unit="s", queries=quantiles("varve_llm_queue_seconds", "endpoint")),
        Panel(title="Open circuit breakers", unit="short", alarm=1, queries=[Query("varve_llm_breaker_open or vector(0)", "{{endpoint}}")]),
        Panel(
            title="Calls refused by budgets, per hour",
            unit="short",
            queries=[Query("sum by (budget) (increase(varve_llm_budget_refusals_total[1h])) or vector(0)", "{{budget}}")],
        ),
        Panel(
            title="Windows without results",
            unit="percentunit",
            description="Windows that were extracted, and paid for, and gave no memory.",
            queries=[Query("varve:windows_without_yield:ratio_rate1h or vector(0)", "share")],
        ),
        Panel(
            title="Tokens per second, by tenant",
            unit="short",
            queries=[Query("sum by (tenant) (rate(varve_tenant_llm_tokens_total[$__rate_interval]))", "{{tenant}}")],
        ),
        Panel(
            title="Tokens per recalled memory",
            unit="short",
            description="Tokens of a day, divided by the memories that were recalled for the first time on that day.",
            queries=[Query("varve:llm_tokens_per_recalled_memory:ratio_increase1d", "tokens")],
        ),
        Panel(
            title="Re-extraction: windows left",
            unit="short",
            description="Without a re-extraction: 0.",
            queries=[Query("max by (generation) (varve_reextraction_windows_left) or vector(0)", "{{generation}}")],
        ),
        Panel(
            title="Re-extraction: waits",
            unit="short",
            description="Tenants whose windows wait for the next day (UTC), because the re-extraction has used its share of their daily "
            "budget; and 1 while it waits for live traffic. Without a re-extraction: 0.",
            queries=[
                Query(
                    "max by (generation) (varve_reextraction_waiting_tenants) or vector(0)", "{{generation}} tenants that wait for a budget"
                ),
                Query("max by (generation) (varve_reextraction_yielding) or vector(0)", "{{generation}} waits for live traffic"),
            ],
        ),
        Panel(title="Parked records", unit="short", queries=[Query("sum by (stage) (varve_parked_records)", "{{stage}}")]),
        Panel(
            title="Windows per second",
            unit="short",
            queries=[Query('sum(rate(varve_records_total{stage="extraction",outcome="done"}[$__rate_interval]))', "windows")],
        ),
    ],
)
