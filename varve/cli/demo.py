"""``varve demo``: a sample conversation through the whole stack."""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Final

import typer

from memory.errors import VarveError
from runtime.interruption import run
from varve.cli.options import load_settings
from varve.output import as_markup, say_json

QUESTIONS: Final = 20

app = typer.Typer()


@app.command()
def demo(
    data: Annotated[Path | None, typer.Option(help="Messages to feed: a file in LoCoMo's form (its first conversation), or JSONL.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object as the last line; all other output goes to standard error.")
    ] = False,
    questions: Annotated[int, typer.Option(min=0, help="Number of questions to ask.")] = QUESTIONS,
    scenario: Annotated[str, typer.Option(help="Scenario: its schema is used, and without --data its sample conversation.")] = "companion",
    picture: Annotated[Path | None, typer.Option(help="Also write the main part of the output as a picture (SVG).")] = None,
    keep: Annotated[Path | None, typer.Option(help="Folder that keeps the demo's state. Default: a temporary folder.")] = None,
) -> None:
    """Start a temporary stack, feed it a sample conversation, ask questions, and stop it."""
    from rich.console import Console

    from memory.schema import scenario as load_scenario
    from varve.conversations import read_conversation, scenario_sample
    from varve.demo.report import picture_of
    from varve.demo.run import TENANT, run_demo
    from varve.embedded.stack import EmbeddedStack
    from varve.embedded.tenants import DeveloperTenant
    from varve.supervisor.supervisor import Supervisor

    console = Console(stderr=as_json, highlight=False)
    conversation = read_conversation(data) if data is not None else scenario_sample(scenario)
    folder = keep or Path(tempfile.mkdtemp(prefix="varve-demo-"))

    def notice(line: str) -> None:
        console.print(f"[dim]{as_markup(line)}[/]")

    try:
        tenant = DeveloperTenant(TENANT, scenario)
        stack = EmbeddedStack(settings=load_settings(folder), throwaway=True, tenant=tenant)
        supervisor = Supervisor(stack.levels(), notice=notice)
        outcome = run(
            run_demo(stack, supervisor, schema=load_scenario(scenario), conversation=conversation, questions=questions, notice=notice),
            on_first=lambda: notice("stopping; press Ctrl-C again to kill the remaining processes"),
            on_repeat=supervisor.kill,
            grace_s=lambda: supervisor.stop_deadline_s,
        )
    except VarveError:
        # The message names a log in that folder.
        keep = folder
        raise
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    outcome.print_to(console)
    if picture is not None:
        picture.write_text(picture_of(outcome), encoding="utf-8")
    if as_json:
        say_json(outcome.as_json())
