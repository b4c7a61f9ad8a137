"""``varve ranking``: rankings fitted to callers' feedback on recalls."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory.texts.text import counted
from memory.texts.visible_text import visible
from runtime.interruption import run
from varve.cli.options import DataOption, attached_settings
from varve.output import say, say_json

if TYPE_CHECKING:
    from retrieval.training.judged import JudgedRecalls
    from retrieval.training.training import Training

app = typer.Typer(help="Rankings: fit one to your users' feedback.", no_args_is_help=True)

_LEFT_OUT = {
    "another_user": "recalls whose feedback names another user",
    "no_ranking": "recalls whose ranking was not recorded (VARVE_RECALL__TRAINING_SHARE)",
    "other_features": "recalls whose ranking another version of Varve recorded",
    "one_sided": "recalls with feedback on useful memories only, or on useless ones only",
    "unreadable": "records that cannot be read",
}


@app.callback()
def ranking() -> None:
    """Rankings fitted to your feedback."""


@app.command()
def fit(
    tenant: Annotated[str, typer.Argument(help="Tenant whose recalls and feedback are used.")],
    out: Annotated[Path, typer.Option(help="File of profiles to write to; other profiles in it are kept.")],
    name: Annotated[str, typer.Option(help="Name by which recalls request the profile.")] = "fitted",
    ridge: Annotated[float, typer.Option(min=0.01, help="Strength of the pull towards the shipped weights.")] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    data: DataOption = None,
) -> None:
    """Fit a ranking profile to recalls with feedback, and write it to a file for VARVE_RECALL__PROFILES."""
    from retrieval.profiles import ProfileEntry, write_entry
    from retrieval.training.reading import read_judged
    from retrieval.training.training import rounded, train

    judged = run(read_judged(attached_settings(data), tenant))
    _say_what_is_left_out(judged)
    training = train(judged, ridge=ridge)
    model = rounded(training.model)
    entry = ProfileEntry(base="learned", weights=dict(model.weights), slope=model.slope, intercept=model.intercept)
    write_entry(out, name, entry)
    if as_json:
        say_json({"profile": name, "file": str(out), **_report(training)}, indent=True)
    else:
        _print(training)
        say(f"{name} was written to {out}")


def _say_what_is_left_out(judged: "JudgedRecalls") -> None:
    for why, number in sorted(judged.left_out.items()):
        say(f"left out: {number} {_LEFT_OUT[why]}", err=True)


def _report(training: "Training") -> dict[str, Any]:
    ways = {"left_out": training.left_out, "shipped": training.shipped, "as_ranked": training.as_ranked}
    return {
        "recalls": training.recalls,
        "questions": training.questions,
        "judged": training.judged,
        **{way: {name: round(value, 4) for name, value in figures._asdict().items()} for way, figures in ways.items()},
        "gain": {name: round(value, 4) for name, value in training.gain._asdict().items()},
    }


def _print(training: "Training") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("ranking")
    for column in ("right pairs", "useful first", "reciprocal rank"):
        table.add_column(column, justify="right")
    ways = {"fitted, on recalls left out": training.left_out, "shipped": training.shipped, "as the recalls ranked": training.as_ranked}
    for way, figures in ways.items():
        table.add_row(visible(way), *(f"{value:.3f}" for value in figures))
    Console().print(table)
    say(
        f"{counted(training.recalls, 'recall')}, {counted(training.questions, 'different question')}, "
        f"{counted(training.judged, 'memory')} judged"
    )
    say(f"right pairs: {training.gain.mean:+.3f} over the shipped model (standard error {training.gain.standard_error:.3f})")
