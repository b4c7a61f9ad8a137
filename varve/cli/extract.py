"""``varve extract --dry-run``: the extraction of a conversation and its cost, without storing anything."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import DataOption, attached_settings, load_settings
from varve.output import as_markup, say, say_json

if TYPE_CHECKING:
    from rich.table import Table

    from streams.operations.dry_run import DryWindow
    from varve.conversations import Conversation

app = typer.Typer()


@app.command()
def extract(
    file: Annotated[Path, typer.Argument(help="JSONL, an array of messages, conversations.json of ChatGPT or Claude, or a LoCoMo file.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Required: only show the result; nothing is sent or stored.")] = False,
    schema: Annotated[str, typer.Option(help="Name of a shipped schema, or a path.")] = "companion",
    limit: Annotated[int | None, typer.Option(min=1, help="Maximum number of windows.")] = None,
    user: Annotated[str | None, typer.Option(help="User of the messages that name none.")] = None,
    session: Annotated[str | None, typer.Option(help="Session of the messages that name none.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per window.")] = False,
    data: DataOption = None,
) -> None:
    """Show what would be extracted from a conversation and what it would cost, with the configured model or offline."""
    if not dry_run:
        raise typer.BadParameter("this command only shows results: add --dry-run; `varve send` stores memories")
    from varve.conversations import read_conversation

    run(_extract(read_conversation(file, user=user, session=session), file, schema, limit, as_json=as_json, data=data))


async def _extract(conversation: "Conversation", file: Path, schema: str, limit: int | None, *, as_json: bool, data: Path | None) -> None:
    from contextlib import aclosing

    from rich.console import Console

    from control.schemas import schema_named
    from varve.dry_run import dry_run

    messages, named, settings = conversation.messages, schema_named(schema, Path(schema)), attached_settings(data)
    event_types = [each.name for each in named.event_types]
    console, number, calls, cost, tokens = Console(highlight=False), 0, 0, 0.0, 0
    async with aclosing(dry_run(messages, named, settings, source=str(file))) as windows:
        async for window in windows:
            number += 1
            calls += sum(usage.calls for usage in window.extraction.usage)
            cost += sum(usage.cost for usage in window.extraction.usage)
            tokens += window.prompt_tokens
            if as_json:
                say_json(window.as_json())
            else:
                console.print(_window_table(window, event_types))
            if number == limit:
                break
    model = load_settings(data).llm.model if calls else "offline, without a model"
    say(
        f"{counted(number, 'window')}, about {tokens} prompt tokens; {counted(calls, 'call')} ({model}), "
        f"cost {cost:.4f}; nothing was stored",
        err=True,
    )


def _window_table(dry: "DryWindow", event_types: Sequence[str]) -> "Table":
    from rich.table import Table

    from memory.name_hints import meant_name
    from memory.records.wording import attributed_text

    window, extraction = dry.window, dry.extraction
    closed = f"{counted(len(window.messages), 'message')}, closed by {window.closed_by}, by {extraction.extractor}"
    title = f"{as_markup(window.session)} #{window.sequence}: {closed}"
    table = Table(title=title, title_justify="left", header_style="cyan")
    table.add_column("what")
    table.add_column("becomes", overflow="fold")
    table.add_column("source", style="dim", overflow="fold")
    for event in extraction.events:
        properties = "".join(f"\n[dim]{as_markup(name)}[/] {as_markup(value)}" for name, value in event.properties.items())
        table.add_row(as_markup(event.type), as_markup(attributed_text(event)) + properties, as_markup(", ".join(event.message_ids)))
    for patch in extraction.patches:
        change = f"{as_markup(patch.search)} → {as_markup(patch.replace)}" if patch.search else as_markup(patch.replace)
        table.add_row(f"{as_markup(patch.entity_type)}.{as_markup(patch.field)}", change, as_markup(patch.entity_key))
    for message in window.messages:
        name = None if message.tool_call is None else message.tool_call.name
        if name is not None and name not in event_types and (meant := meant_name(name, event_types)) is not None:
            note = f"tool call {name} states no event, as no event type has this name; did you mean {meant}?"
            table.add_row("[dim]note[/]", as_markup(note), as_markup(message.id))
    for dropped in extraction.dropped:
        named = "" if not dropped.names else f" ({as_markup(', '.join(dropped.names))})"
        table.add_row("[dim]left out[/]", f"{dropped.count} x {dropped.what}: {as_markup(dropped.reason)}{named}", "")
    return table
