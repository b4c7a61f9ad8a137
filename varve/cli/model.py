"""``varve usage`` and ``varve prompt``: the cost of model calls, and their prompts."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory.texts.text import counted
from memory.texts.visible_text import visible
from runtime.interruption import run
from varve.cli.options import DataOption, attached_settings, parse_time
from varve.output import say, say_json

if TYPE_CHECKING:
    from models.llm.usage import UsageKey, UsageTotal
    from runtime.settings import Settings


app = typer.Typer()

_UNCUT_WIDTH: Final = 2000


@app.command()
def usage(
    tenant: Annotated[str | None, typer.Option(help="Only this tenant.")] = None,
    stage: Annotated[str | None, typer.Option(help="Only this stage.")] = None,
    model: Annotated[str | None, typer.Option(help="Only this model.")] = None,
    since: Annotated[datetime | None, typer.Option(parser=parse_time, help="Only calls at this time or later (ISO 8601).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
    data: DataOption = None,
) -> None:
    """Sum up model calls, tokens and cost by tenant, stage and model."""
    from rich.console import Console
    from rich.table import Table

    totals = run(_totals(attached_settings(data), tenant, stage, model, since))
    if as_json:
        for key, total in totals.items():
            say_json({**key._asdict(), **total._asdict(), "cached_share": total.cached_share})
        return
    table = Table(box=None, pad_edge=False)
    for column in ("tenant", "stage", "model"):
        table.add_column(column)
    for column in ("calls", "estimated", "prompt", "cached", "completion", "cost", "ms per call"):
        table.add_column(column, justify="right")
    for key, total in totals.items():
        tokens = (total.prompt_tokens, f"{total.cached_share:.0%}", total.completion_tokens)
        figures = (total.calls, total.estimated_calls, *tokens, f"{total.cost:.4f}", f"{total.latency_ms / max(1, total.calls):.0f}")
        table.add_row(*map(visible, key), *map(str, figures))
    console = Console()
    if not console.is_terminal:
        # In a file or a pipe, nothing is cut, so that programs read whole names.
        console.width = _UNCUT_WIDTH
    console.print(table)


@app.command()
def prompt(
    schema: Annotated[str, typer.Argument(help="Name of a shipped schema, or a path.")],
    window: Annotated[Path | None, typer.Option(help="A window's JSON, to print the whole prompt. Default: the schema's part.")] = None,
    data: DataOption = None,
) -> None:
    """Print the prompt that extraction sends for a schema, and the number of its tokens to standard error."""
    from control.schemas import schema_named
    from extraction.one_pass.prompt.preview import preview_prompt
    from memory.records import Window
    from varve.errors import ConversationError

    try:
        sample = None if window is None else Window.from_json(window.read_bytes())
    except OSError as error:
        raise ConversationError(f"{window} cannot be read: {error.strerror}") from error
    view = preview_prompt(schema_named(schema, Path(schema)), settings=attached_settings(data), window=sample)
    say(view.text)
    say(f"about {view.prefix_tokens} tokens in the schema's part, {view.body_tokens} in the window's", err=True)


async def _totals(
    settings: "Settings", tenant: str | None, stage: str | None, model: str | None, since: datetime | None
) -> "dict[UsageKey, UsageTotal]":
    from memory.errors import RecordError
    from memory.records import Usage
    from memory.topics import USAGE
    from models.llm.usage import sum_usage
    from runtime.kafka import read_topic

    calls: list[Usage] = []
    unreadable = 0
    async for record in read_topic(settings.topic(USAGE.name), settings.kafka):
        try:
            call = Usage.from_json(record.value or b"")
        except RecordError:
            unreadable += 1
            continue
        filters = ((tenant, call.tenant), (stage, call.stage), (model, call.model))
        if all(wanted in (None, actual) for wanted, actual in filters) and (since is None or call.time >= since):
            calls.append(call)
    if unreadable:
        say(f"left out {counted(unreadable, 'record')} of {settings.topic('usage')} that cannot be read as usage", err=True)
    return sum_usage(calls)
