"""``varve import``: import the export of another service."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from runtime.interruption import run
from varve.cli.options import DataOption, settings_of_stack
from varve.output import say, say_json

if TYPE_CHECKING:
    from varve.imports.files import ExportFile
    from varve.imports.formats import Names

app = typer.Typer()

_REFUSED: Final = 3
"""Exit code if the service refused some messages."""


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="The export: JSON, JSON lines, or the ZIP archive of ChatGPT or Claude.")],
    form: Annotated[str, typer.Option("--format", help="`chatgpt`, `claude`, `mem0`, `zep`, `locomo` or `varve`.")],
    user: Annotated[str | None, typer.Option(help="User of the messages that name none.")] = None,
    session: Annotated[str | None, typer.Option(help="Session of the messages that name none.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only read the file and print the counts; nothing is sent.")] = False,
    flush: Annotated[bool, typer.Option(help="Close the open windows afterwards, so that they are extracted now.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Send all messages, also those that an earlier import has sent.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
    data: DataOption = None,
) -> None:
    """Import the export of another service, with the original times and ids.

    The whole file is checked before anything is sent. An interrupted import goes on where it stopped. Facts without messages become
    messages of their own.
    """
    from varve.imports.counts import ImportCounts, read_messages
    from varve.imports.files import ExportFile
    from varve.imports.formats import FORMATS, Names

    chosen = FORMATS.get(form)
    if chosen is None:
        raise typer.BadParameter(f"{form!r} is not one of {', '.join(FORMATS)}", param_hint="--format")
    export, names, counts = ExportFile(file), Names(user=user, session=session), ImportCounts()
    for _ in read_messages(export, chosen, names, counts):
        pass
    if not as_json:
        for line in counts.lines():
            say(line)
    if dry_run or not counts.messages:
        report = counts.as_json()
    else:
        sent = run(_send(export, form, names, counts.messages, data, flush=flush, again=again, quiet=as_json))
        report = counts.as_json() | sent
    if as_json:
        say_json(report, indent=True)
    if report.get("refused"):
        raise typer.Exit(_REFUSED)


async def _send(
    export: "ExportFile", form: str, names: "Names", total: int, data: Path | None, *, flush: bool, again: bool, quiet: bool
) -> dict[str, Any]:
    from varve.imports.counts import ImportCounts, read_messages
    from varve.imports.formats import FORMATS
    from varve.imports.sending import ImportProgress, send_messages
    from varve.progress import progress_bar
    from varve.service_client import service_client

    settings = await settings_of_stack(data)
    async with service_client(settings) as service:
        # The key stands for its tenant: a key that may only send messages cannot read the tenant's name.
        key = "" if settings.client.api_key is None else settings.client.api_key.get_secret_value()
        url = settings.client.url or f"{settings.service.host}:{settings.service.port}"
        progress = ImportProgress.of(settings.data / "imports", export.digest(), form, names.user, names.session, url, key)
        done = 0 if again else min(progress.read(), total)
        with progress_bar("importing", total - done) as bar:
            messages = read_messages(export, FORMATS[form], names, ImportCounts())
            outcome = await send_messages(messages, service, progress, done=done, on_batch=bar)
        if flush:
            await service.flush()
    if not quiet:
        say(f"{outcome.sent} messages sent" + (f"; {done} were sent by an earlier run" if done else ""))
        for reason, count in outcome.refused.most_common():
            say(f"{count} refused, first {outcome.first_refused}: {reason}", err=True)
    return {"sent": outcome.sent, "sent_before": done, "refused": dict(outcome.refused)}
