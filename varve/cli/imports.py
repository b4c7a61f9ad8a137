"""``varve import``: import the export of another service."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import DataOption, load_settings, parse_time, settings_of_stack
from varve.output import say, say_json

if TYPE_CHECKING:
    from runtime.settings import Settings
    from varve.imports.cost import WindowCount
    from varve.imports.files import ExportFile
    from varve.imports.messages import ImportOptions

app = typer.Typer()

_REFUSED: Final = 3
"""Exit code if the service refused some messages, or some of the file cannot be read."""


@app.command("import")
def import_file(
    file: Annotated[
        Path, typer.Argument(help="The export: JSON, JSON lines, a chat of WhatsApp as text, a ZIP archive, or Slack's folder.")
    ],
    form: Annotated[
        str,
        typer.Option("--format", help="`chatgpt`, `claude`, `mem0`, `zep`, `whatsapp`, `slack`, `openai-messages`, `locomo` or `varve`."),
    ],
    user: Annotated[
        str | None,
        typer.Option(
            help="User of the messages that name none. For `whatsapp` and `slack`: of all messages. Default: each author is a user."
        ),
    ] = None,
    session: Annotated[str | None, typer.Option(help="Session of the messages that name none.")] = None,
    time_zone: Annotated[
        str, typer.Option(help="Time zone of the telephone that exported a WhatsApp chat, such as `Europe/Oslo`.")
    ] = "UTC",
    date_order: Annotated[
        str | None,
        typer.Option(help="`day-first`, `month-first` or `year-first`, for WhatsApp. Default: as all dates of the file show."),
    ] = None,
    start: Annotated[
        datetime | None,
        typer.Option(
            parser=parse_time,
            help="For `openai-messages`: time of the first message without a time (ISO 8601). Each further one is a second later.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only read the file and print the counts and the estimated cost; nothing is sent.")
    ] = False,
    schema: Annotated[str, typer.Option(help="Schema for the estimate: the name of a shipped one, or a path.")] = "companion",
    flush: Annotated[bool, typer.Option(help="Close the open windows afterwards, so that they are extracted now.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Send all messages, also those that an earlier import has sent.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
    data: DataOption = None,
) -> None:
    """Import the export of another service, with the original times and ids.

    The whole file is checked before anything is sent. An interrupted import continues where it stopped. Each fact without messages
    becomes one message. A dry run estimates the calls and tokens of a model, and their cost if `VARVE_LLM__PRICE_TABLE` has a price.
    """
    from varve.imports.counts import ImportCounts, read_messages
    from varve.imports.files import ExportFile
    from varve.imports.formats import FORMATS

    chosen = FORMATS.get(form)
    if chosen is None:
        raise typer.BadParameter(f"{form!r} is not one of {', '.join(FORMATS)}", param_hint="--format")
    options = _options(user, session, time_zone, date_order, start)
    export, counts, settings = ExportFile(file), ImportCounts(), load_settings(data)
    windows = _window_count(settings) if dry_run else None
    for message in read_messages(export, chosen, options, counts):
        if windows is not None:
            windows.add(message)
    if not as_json:
        for line in counts.lines():
            say(line)
    if windows is not None:
        report = counts.as_json() | {"model": _estimate(windows, settings, schema, quiet=as_json)}
    elif not counts.messages:
        report = counts.as_json()
    else:
        sent = run(_send(export, form, options, counts.messages, data, flush=flush, again=again, quiet=as_json))
        report = counts.as_json() | sent
    if as_json:
        say_json(report, indent=True)
    if report.get("refused") or counts.first_problem is not None:
        raise typer.Exit(_REFUSED)


def _options(user: str | None, session: str | None, time_zone: str, date_order: str | None, start: datetime | None) -> "ImportOptions":
    from memory.times import checked_zone_name
    from varve.imports.messages import DATE_ORDERS, ImportOptions

    try:
        checked_zone_name(time_zone)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--time-zone") from error
    order = next((each for each in DATE_ORDERS if each == date_order), None)
    if date_order is not None and order is None:
        raise typer.BadParameter(f"{date_order!r} is not one of {', '.join(DATE_ORDERS)}", param_hint="--date-order")
    return ImportOptions(user=user, session=session, time_zone=time_zone, date_order=order, start=start)


def _window_count(settings: "Settings") -> "WindowCount":
    # It loads the stage of the sessions, which a real import does not need.
    from varve.imports.cost import WindowCount

    return WindowCount(settings)


def _estimate(windows: "WindowCount", settings: "Settings", schema: str, *, quiet: bool) -> dict[str, Any]:
    from control.schemas import schema_named
    from extraction.one_pass.prompt.preview import preview_prompt
    from models.llm.usage import PriceTable

    prefix = preview_prompt(schema_named(schema, Path(schema)), settings=settings).prefix_tokens
    prices = PriceTable.load(settings.llm.price_table)
    estimate = windows.estimate(prefix_tokens=prefix, model=settings.llm.model, prices=prices)
    if not quiet:
        say(estimate.line(settings.llm.model))
    return estimate.as_json()


async def _send(
    export: "ExportFile", form: str, options: "ImportOptions", total: int, data: Path | None, *, flush: bool, again: bool, quiet: bool
) -> dict[str, Any]:
    from varve.imports.counts import ImportCounts, read_messages
    from varve.imports.formats import FORMATS
    from varve.imports.sending import ImportProgress, send_messages
    from varve.progress import progress_bar
    from varve.service_client import service_client

    settings = await settings_of_stack(data)
    async with service_client(settings, max_attempts=settings.client.max_attempts) as service:
        # The key stands for its tenant: a key that may only send messages cannot read the tenant's name.
        key = "" if settings.client.api_key is None else settings.client.api_key.get_secret_value()
        url = settings.client.url or f"{settings.service.host}:{settings.service.port}"
        progress = ImportProgress.of(settings.data / "imports", export.digest(), form, *options.parts(), url, key)
        done = 0 if again else min(progress.read(), total)
        with progress_bar("importing", total - done) as bar:
            messages = read_messages(export, FORMATS[form], options, ImportCounts())
            outcome = await send_messages(messages, service, progress, done=done, on_batch=bar)
        if flush:
            await service.flush()
    if not quiet:
        say(f"{counted(outcome.sent, 'message')} sent" + (f"; {done} were sent by an earlier run" if done else ""))
        for reason, count in outcome.refused.most_common():
            say(f"{count} refused, first {outcome.first_refused}: {reason}", err=True)
    return {"sent": outcome.sent, "sent_before": done, "refused": dict(outcome.refused)}
