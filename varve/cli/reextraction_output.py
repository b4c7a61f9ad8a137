"""The output of ``varve generations estimate``, ``start`` and ``show``."""

from typing import TYPE_CHECKING

from memory.texts.text import counted
from varve.output import say, say_rows

if TYPE_CHECKING:
    from control.reextraction import Estimate, RunBudget
    from streams.operations.reextraction.progress import Progress
    from streams.operations.reextraction.sizing import SizeReport


def print_report(report: "SizeReport") -> None:
    """Prints an estimate."""
    rows = [*report.by_tenant.items(), *([("total", report.total)] if len(report.by_tenant) != 1 else [])]
    say_rows(
        ("tenant", "windows", "messages", "calls", "tokens in", "of them cached", "tokens out", "cost", "time"),
        (
            (
                name,
                f"{each.windows:,}",
                f"{each.messages:,}",
                f"{each.calls:,}",
                f"{each.prompt_tokens:,}",
                f"{each.cached_tokens:,}",
                f"{each.completion_tokens:,}",
                _money(each.cost),
                _duration(each.duration_s),
            )
            for name, each in rows
        ),
    )
    say("model: none; rules extract" if report.model is None else f"model: {report.model}; tokens estimated from {report.basis}")
    if report.total.cost is None:
        say("cost: unknown, because no price table is set (VARVE_LLM__PRICE_TABLE)")
    if report.total.duration_s is None:
        say("time: unknown without --calls-per-minute, because no earlier calls show a rate")


def budget_line(budget: "RunBudget", size: "Estimate") -> str:
    """The limits of a re-extraction, and whether they are below its estimate."""
    limits = [f"{budget.tokens:,} tokens"] if budget.tokens is not None else []
    limits += [_money(budget.cost)] if budget.cost is not None else []
    limits += [f"{budget.calls_per_minute:,} calls per minute"] if budget.calls_per_minute is not None else []
    short = (budget.tokens is not None and budget.tokens < size.tokens) or (
        budget.cost is not None and size.cost is not None and budget.cost < size.cost
    )
    line = f"budget: {', '.join(limits) or 'no limit'}"
    return f"{line}; less than the estimate, so it will pause before the end" if short else line


def print_progress(found: "Progress") -> None:
    """Prints the progress of a re-extraction."""
    each, budget = found.run, found.run.budget
    say(
        f"{each.generation}: {each.state}{f' ({each.reason})' if each.reason else ''}; "
        f"{counted(len(each.tenants), 'tenant')}, {counted(found.workers, 'worker')}"
    )
    done = "caught up" if found.is_caught_up else f"about {counted(found.windows_left, 'window')} left, {_duration(found.left_s)}"
    say(f"windows: {100 * found.share:.1f} % of {each.estimate.windows:,} and later ones; {done}")
    left = [] if found.tokens_left is None else [f"{found.tokens_left:,} of {budget.tokens:,} tokens"]
    left += [] if found.cost_left is None else [f"{_money(found.cost_left)} of {_money(budget.cost)}"]
    spent = found.spent
    is_priced = each.estimate.cost is not None or spent.amount.cost > 0
    tokens, cost = f"{spent.amount.tokens:,.0f} tokens", _money(spent.amount.cost if is_priced else None)
    say(f"spent: {counted(spent.calls, 'call')}, {tokens}, cost {cost}; left: {', '.join(left) or 'no limit'}")
    if found.parked:
        say(f"parked: {counted(found.parked, 'window')}, because the model does not answer")
    if found.yields_to is not None:
        say(f"waits for live traffic: {found.yields_to}")
    for wait in found.waits.values():
        say(f"waits until {wait.until:%Y-%m-%d %H:%M} UTC: {wait.reason}")
    if found.advice:
        say(found.advice)


def _money(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:,.4f}" if amount < 1 else f"{amount:,.2f}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "time unknown"
    minutes = seconds / 60
    return f"{seconds:,.0f} s" if minutes < 2 else f"{minutes:,.0f} min" if minutes < 120 else f"{minutes / 60:,.1f} h"
