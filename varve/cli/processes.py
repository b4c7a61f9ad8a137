"""``varve worker``, ``varve serve``, ``varve topics create``, ``varve fetch``: the parts, one by one, as a deployment runs them."""

import asyncio
from typing import Annotated

import typer

from varve.cli.options import DataOption, attached_settings, load_settings

topics = typer.Typer(help="The topics that the stages meet in.", no_args_is_help=True)


app = typer.Typer()


@app.command()
def worker(stage: Annotated[str, typer.Argument(help="sessions, extraction, events, entities or index.")], data: DataOption = None) -> None:
    """Run one worker of a stage until SIGTERM."""
    from streams.run import run_stage

    run_stage(stage, attached_settings(data))


@app.command()
def serve(data: DataOption = None) -> None:
    """Run the query service until SIGTERM."""
    from retrieval.service.serve import serve as run

    run(attached_settings(data))


@app.command()
def fetch() -> None:
    """Bring what the embedded stack needs and no package carries: Kafka's jars."""
    from varve.embedded import jars

    typer.echo(f"Kafka {jars.KAFKA_VERSION} is in {jars.fetch(load_settings().cache_path)}")


@topics.command("create")
def create(data: DataOption = None) -> None:
    """Create the topics that are missing; one that exists is left as it is."""
    from runtime.kafka import create_topics

    created = asyncio.run(create_topics(attached_settings(data)))
    typer.echo("\n".join(created) if created else "all topics are there already")
