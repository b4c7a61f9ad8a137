"""``varve generations rehearse``: replays recalls against the live and another generation before a switch."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import DataOption, TenantArgument, attached_settings, print_notice
from varve.output import say, say_json, say_rows

if TYPE_CHECKING:
    from runtime.settings import Settings
    from streams.operations.rehearsal.comparison import Rehearsal

app = typer.Typer()


@app.command("rehearse")
def rehearse(
    tenant: TenantArgument,
    name: Annotated[str, typer.Argument(help="The other generation's name; `-` for the first one.")],
    last: Annotated[int, typer.Option(min=1, max=100_000, help="Replay this many of the last recorded recalls.")] = 200,
    queries: Annotated[
        Path | None,
        typer.Option(help='Replay this file instead: JSON lines {"query": "...", "user": "..."}.'),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, max=1000, help="Most results of a recall. Default: the setting.")] = None,
    max_lost: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exit with 1 if a larger share of the evidence is lost. Default: no limit.")
    ] = None,
    worst: Annotated[int, typer.Option(min=0, max=1000, help="Most recalls in the list of the worst.")] = 10,
    with_queries: Annotated[bool, typer.Option("--with-queries", help="Show the queries and users of the worst recalls.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    data: DataOption = None,
) -> None:
    """Compare what a tenant's live generation and another one return: overlap, rank changes, lost evidence, latency.

    Run it with the settings of the query service. It only reads: no recall is recorded. Evidence is the messages that results come from.
    """
    try:
        lines = None if queries is None else queries.read_bytes().splitlines()
    except OSError as error:
        raise typer.BadParameter(f"the file of queries cannot be read: {error}") from error
    found = run(_rehearse(attached_settings(data), tenant, name, last=last, lines=lines, limit=limit))
    if as_json:
        say_json(found.as_json(worst=worst, with_queries=with_queries), indent=True)
    else:
        _print(found, worst=worst, with_queries=with_queries)
    if max_lost is not None and found.lost_share > max_lost:
        say(f"{found.lost_share:.1%} of the evidence is lost, more than {max_lost:.1%}", err=True)
        raise typer.Exit(1)


async def _rehearse(
    settings: "Settings", tenant: str, name: str, *, last: int, lines: list[bytes] | None, limit: int | None
) -> "Rehearsal":
    from control.generations.reading import generation_named
    from models.embedding.build import build_embedder
    from retrieval.pipeline import RecallPipeline
    from retrieval.profiles import load_profiles
    from runtime.clocks import SystemClock
    from stores.build import open_store
    from streams.operations.rehearsal.questions import questions_in, recorded_questions
    from streams.operations.rehearsal.rehearse import rehearse as compare

    questions = await recorded_questions(settings, tenant, last=last) if lines is None else questions_in(lines)
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    try:
        async with open_store(settings) as store:
            recall = RecallPipeline(
                store=store, embedder=embedder, settings=settings.recall, clock=SystemClock(), profiles=load_profiles(settings.recall)
            )
            return await compare(settings, tenant, generation_named(name), questions, recall=recall, limit=limit, notice=print_notice)
    finally:
        await embedder.close()


def _print(found: "Rehearsal", *, worst: int, with_queries: bool) -> None:
    fields = found.as_json(worst=worst, with_queries=with_queries)
    served, candidate = fields["served"], fields["candidate"]
    say(f"{counted(fields['recalls'], 'recall')} against generations {served} (live) and {candidate}")
    say(f"overlap@10: {found.overlap:.1%}; mean rank change: {found.rank_change:.2f}")
    say(f"first results: {fields['first_lost']} of {served} lost, {fields['first_new']} of {candidate} new")
    say(f"evidence: {found.lost_evidence} of {found.served_evidence} messages lost ({found.lost_share:.1%}), {fields['gained']} gained")
    latency = fields["latency_ms"]
    for name, which in ((served, "served"), (candidate, "candidate")):
        say(f"latency of {name}: p50 {latency[which]['p50']:.1f} ms, p95 {latency[which]['p95']:.1f} ms")
    worse = found.worst(worst)
    if not worse:
        return
    say("")
    header = ("recall", "overlap@10", "lost", "new rank of the first", "lost messages", *(("user", "query") if with_queries else ()))
    say_rows(
        header,
        (
            (
                each.question.id,
                "-" if each.overlap is None else f"{each.overlap:.0%}",
                str(len(each.lost)),
                str(each.new_ranks[0] or "lost"),
                " ".join(sorted(each.lost)),
                *((each.question.user or "", each.question.query) if with_queries else ()),
            )
            for each in worse
        ),
    )
