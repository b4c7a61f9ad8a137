"""The command line ``varve``. An error is printed as one sentence, with exit code 1."""

import errno
import os
import sys
from typing import Annotated, Final

import typer

from memory.errors import VarveError
from memory.texts.visible_text import visible
from runtime.garbage import collect_seldom
from runtime.interruption import exit_code_of_signal, handle_signals
from varve.cli import (
    control_log,
    demo,
    dev,
    dlq,
    entities,
    erasures,
    extract,
    generations,
    growth,
    imports,
    keys,
    loss,
    mcp,
    memories,
    methods,
    model,
    processes,
    prove,
    ranking,
    reindex,
    replay,
    retention,
    send_and_recall,
    status,
    tenants,
    trust,
    webhooks,
)
from varve.cli.groups import CommandGroup, RootGroup
from varve.cli.options import sentence_of
from varve.errors import OutputError

_NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

app = typer.Typer(
    name="varve",
    cls=RootGroup,
    help="Varve: a streaming memory service for LLM applications.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"varve {version('varve-server')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    """Handles the options before the command."""


for group in (
    dev,
    demo,
    processes,
    mcp,
    send_and_recall,
    imports,
    status,
    replay,
    reindex,
    prove,
    loss,
    erasures,
    model,
    extract,
    control_log,
):
    app.add_typer(group.app)
for name, group_of in (
    ("topics", growth.app),
    ("tenants", tenants.app),
    ("dlq", dlq.app),
    ("memories", memories.app),
    ("messages", memories.messages),
    ("entities", entities.app),
    ("generations", generations.app),
    ("erasures", erasures.group),
    ("retention", retention.app),
    ("holds", retention.holds),
    ("trust", trust.app),
    ("keys", keys.app),
    ("operators", keys.operators),
    ("webhooks", webhooks.app),
    ("schemas", control_log.schemas),
    ("methods", methods.app),
    ("audit", control_log.audit),
    ("ranking", ranking.app),
):
    app.add_typer(group_of, name=name, cls=CommandGroup)


def main() -> None:
    """Runs the command line. Only the user can read what it and its children write: files have mode 0600, folders and sockets 0700."""
    os.umask(0o077)
    # Most commands load modules for most of their time.
    collect_seldom()
    # NumPy reads this when it is imported, and multiplies in the calling thread. Varve's matrices are small: with a thread per core, a
    # product waits for cores that work for other processes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    handle_signals()
    try:
        app()
    except Exception as error:
        if (code := exit_code_of_signal()) is not None:
            sys.exit(code)
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            # What is still buffered would fail once more when the process ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            error = OutputError(f"{error.strerror}: the output of this command is not complete")
        if not _is_expected(error):
            raise
        typer.secho(visible(f"varve: {sentence_of(error)}"), err=True, fg=typer.colors.RED)
        sys.exit(error.exit_code if isinstance(error, VarveError) else 1)


def _is_expected(error: Exception) -> bool:
    """Whether one sentence explains an error. The client's errors are compared by name; their import would slow down ``--help``."""
    return isinstance(error, VarveError) or any(kind.__qualname__ == "VarveClientError" for kind in type(error).__mro__)
