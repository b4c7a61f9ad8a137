"""``varve entities``: one entity, now or at another moment, and its history."""

from datetime import datetime
from typing import Annotated, Any

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import DataOption, ask_service, attached_settings, parse_time
from varve.output import say, say_json

app = typer.Typer(help="Single entities: show them now or at another time, and their history.", no_args_is_help=True)

TypeArgument = Annotated[str, typer.Argument(metavar="TYPE", help="Entity type of the schema, such as user_profile.")]
KeyArgument = Annotated[
    list[str],
    typer.Argument(metavar="KEY...", help="One argument for each of the type's Keys in the schema, in their order, such as ann 2024-W19."),
]
AsOfOption = Annotated[datetime | None, typer.Option("--as-of", parser=parse_time, help="Show it as it was at this event time (ISO 8601).")]
KnownAtOption = Annotated[datetime | None, typer.Option("--known-at", parser=parse_time, help="Show it as known at this time (ISO 8601).")]


@app.command("show")
def show(
    entity_type: TypeArgument, key: KeyArgument, as_of: AsOfOption = None, known_at: KnownAtOption = None, data: DataOption = None
) -> None:
    """Print an entity as JSON."""
    entity = ask_service(data, lambda service: service.entity(entity_type, key, as_of=as_of, known_at=known_at))
    say_json(entity.as_dict(), indent=True)


@app.command("history")
def history(
    entity_type: TypeArgument,
    key: KeyArgument,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also print steps that changed no field, such as a repeated statement.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one step a line: all steps.")] = False,
    data: DataOption = None,
) -> None:
    """Print the history of an entity, oldest first: each change, when it became known, and whether it still holds."""

    async def print_all() -> None:
        from varve.service_client import service_client

        after: str | None = None
        skipped = 0
        async with service_client(attached_settings(data)) as service:
            while True:
                page = await service.entity_history(entity_type, key, as_of=as_of, known_at=known_at, after=after, limit=200)
                if after is None and not page.complete:
                    say("(older steps are not kept)", err=True)
                for step in (each.as_dict() for each in page.steps):
                    if as_json:
                        say_json(step)
                    elif everything or step["after"]:
                        _say_step(step)
                    else:
                        skipped += 1
                after = page.next
                if after is None:
                    break
        if skipped:
            say(f"({counted(skipped, 'step')} that changed no field: --all)", err=True)

    run(print_all())


def _say_step(step: dict[str, Any]) -> None:
    say(f"{step['recorded_at']}  {step['kind']}  {step['id']}")
    for change in step["changes"]:
        fate = "" if change["fate"] is None else f"  [{change['fate']}{'' if change['by'] is None else ' by ' + change['by']}]"
        verb = "+" if change["op"] == "apply" else "-"
        # A change without a value is the event itself, as a COUNT takes it.
        value = "an event" if change["value"] is None else _shown(change["value"])
        say(f"  {verb} {change['event_time'][:10]}  {change['property']}: {value}{fate}")
    for name, value in step["after"].items():
        say(f"  = {name}: {_shown(step['before'][name])} -> {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, dict) and "replace" in value:
        return f"{value['search']!r} -> {value['replace']!r}" if value.get("search") else repr(value["replace"])
    return "nothing" if value is None else repr(value)
