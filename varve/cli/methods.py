"""``varve methods``: the memory methods that can be selected for a tenant."""

from difflib import unified_diff
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from varve.output import say, say_rows

if TYPE_CHECKING:
    from memory.schema.methods import MethodDocument

app = typer.Typer(help="Memory methods: list, show, compare.", no_args_is_help=True)

MethodArgument = Annotated[str, typer.Argument(help="Name of a shipped method, or the path of a document.")]


@app.command("list")
def list_all() -> None:
    """List the shipped methods with the types that each adds to a schema."""
    from memory.schema.methods import check_method, method_document, method_names

    methods = [check_method(method_document(name)) for name in method_names()]
    say_rows(
        ("method", "version", "events", "entities", "retrievers", "source"),
        (
            (
                method.name,
                method.version,
                _listed(method.event_types),
                _listed(method.own_entity_types),
                _listed([path.name for path in method.retrieval.paths]),
                method.source,
            )
            for method in methods
        ),
    )


@app.command("show")
def show(
    method: MethodArgument,
    schema: Annotated[str | None, typer.Option(help="Shipped schema or path: show the schema composed with the method.")] = None,
) -> None:
    """Print a method's document, which can be changed and used as a file; an invalid one is rejected with the place of the error.

    Standard error lists what is missing without a model.
    """
    from memory.schema import scenario, to_json
    from memory.schema.methods import missing_without_model, with_method
    from varve.cli.options import schema_argument

    document = _document(method)
    if schema is None:
        say(_as_text(document))
    else:
        named = schema_argument(schema)
        say(_as_text(to_json(with_method(scenario(named) if isinstance(named, str) else named, document))))
    for each in missing_without_model(document):
        say(f"Without a model: {each}", err=True)


@app.command("diff")
def diff(one: MethodArgument, other: MethodArgument) -> None:
    """Print the lines in which two methods' documents differ; exit with 1 if they do."""
    lines = list(unified_diff(_as_text(_document(one)).splitlines(), _as_text(_document(other)).splitlines(), one, other, n=2, lineterm=""))
    for line in lines:
        say(line)
    if lines:
        raise typer.Exit(1)


def _document(named: str) -> "MethodDocument":
    from memory.schema.methods import method_document
    from varve.cli.options import method_argument

    document = method_argument(named)
    return document if document is not None and not isinstance(document, str) else method_document(named)


def _as_text(document: object) -> str:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def _listed(names: "list[str] | tuple[str, ...]") -> str:
    return ", ".join(names) or "-"
