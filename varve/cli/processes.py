"""``varve worker``, ``serve``, ``canary``, ``topics create`` and ``fetch``: single processes, as a deployment runs them."""

from typing import Annotated

import typer

from runtime.garbage import loading
from runtime.interruption import run, run_until_signal
from varve.cli.options import DataOption, StageArgument, attached_settings, load_settings
from varve.output import say

app = typer.Typer()
topics = typer.Typer(help="Topics between the stages: create them, copy them to more partitions.", no_args_is_help=True)


@app.command()
def worker(
    stage: StageArgument,
    data: DataOption = None,
) -> None:
    """Run one worker of a stage until SIGTERM."""
    with loading():
        from streams.run import run_stage

    run_stage(stage, attached_settings(data))


@app.command()
def serve(data: DataOption = None) -> None:
    """Run the query service until SIGTERM."""
    with loading():
        from api.serve import serve as serve_until_signal
        from streams.operations.erasure.erase import eraser_of
        from streams.operations.jobs import jobs_of

    settings = attached_settings(data)
    serve_until_signal(settings, eraser=eraser_of(settings), jobs=jobs_of(settings))


@app.command()
def canary(
    once: Annotated[bool, typer.Option(help="Run one round; exit with 1 unless every question was answered.")] = False,
    data: DataOption = None,
) -> None:
    """Write and recall test facts continuously, as a canary tenant, until SIGTERM."""
    from runtime.logs import configure_logging
    from varve.canary.run import one_round, serve_canary

    settings = attached_settings(data)
    if once:
        done = run(one_round(settings))
        took = "" if done.freshness_s is None else f" after {done.freshness_s:.1f} s"
        say(f"{done.outcome}{took}")
        raise typer.Exit(0 if done.score == 1 else 1)
    configure_logging(settings.log, stage="canary")
    run_until_signal(serve_canary(settings))


@app.command()
def fetch() -> None:
    """Download Kafka's jars, which the embedded stack needs, and prepare faster starts of Kafka."""
    from memory.errors import VarveError
    from varve.embedded import jars
    from varve.embedded.start_cache import make_start_cache
    from varve.progress import progress_bar

    cache = load_settings().cache_path
    with progress_bar("downloading Kafka's jars", len(jars.expected_hashes())) as progress:
        folder = jars.fetch(cache, progress=progress)
    try:
        run(make_start_cache(cache))
    except VarveError as error:
        say(f"Kafka will start more slowly: {error}", err=True)
    say(f"Kafka {jars.KAFKA_VERSION} is in {folder}")


@topics.command("create")
def create(data: DataOption = None) -> None:
    """Create missing topics; existing ones are not changed."""
    from runtime.kafka import create_topics

    created = run(create_topics(attached_settings(data)))
    say("\n".join(created) if created else "all topics exist already")
