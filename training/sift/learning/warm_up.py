"""``python -m training sift warm-up``: supervised examples for format and relevance (MemSifter 3.4, cold start), and training on them.

Writes ``warm-up.jsonl`` from the train set: the prompt as a recall sends it, and an answer. The answer ranks the relevant sessions first,
then the others, both by BM25; its reasoning names the relevant sessions. With ``--teacher``, the model of ``VARVE_LLM__*`` writes the
answers, also for queries without known relevant sessions. Each answer is parsed as a recall would parse it; a teacher's answer that is
rejected or partial is left out and counted. With ``--train FOLDER``, a model is trained on the examples, and written to ``warm-up/``.
"""

import argparse
from collections.abc import Iterator
from typing import Any, Final

from evaluation.qa.calls import tokens_of
from models.llm.port import LLMAnswer
from retrieval.errors import RecallModelError
from retrieval.session_ranking.prompt import complete_at, number_ranked, parse_ranking
from runtime.settings import Settings
from training.plots import write_curves
from training.runs import Run, RunError
from training.sift.data.examples import TRAIN, WARM_UP, Example, UserExamples, WarmUpExample, drawn_examples
from training.sift.models.endpoints import EndpointModel, RankingModel, estimated_cost, working_settings
from training.sift.models.proxies import require_torch

SUMMARY: Final = "makes supervised examples of rankings from relevant sessions or a teacher, and trains a model on them"
MODEL: Final = "warm-up"
TEACHER_ANSWERS: Final = "teacher-answers.jsonl"
_CONFIG: Final = ("batch", "micro_batch", "epochs", "learning_rate", "save_every", "lora", "bf16", "seed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--examples", type=int, default=None, metavar="N", help="only N examples, drawn by the seed; default: all")
    parser.add_argument("--seed", type=int, default=7, help="seed of the order; default: %(default)s")
    parser.add_argument(
        "--sessions", type=int, default=10, choices=range(1, 16), metavar="K", help="sessions to rank; default: %(default)s"
    )
    parser.add_argument("--direct", action="store_true", help="rank without reasoning, the paper's ablation")
    parser.add_argument("--teacher", action="store_true", help="let the model of VARVE_LLM__* write the answers")
    parser.add_argument("--max-tokens", type=int, default=1024, help="longest answer of the teacher; default: %(default)s")
    parser.add_argument("--train", metavar="FOLDER", help="train this model on the examples; default: none")
    parser.add_argument("--batch", type=int, default=32, help="examples per update; default: %(default)s")
    parser.add_argument("--micro-batch", type=int, default=4, help="examples at once; default: %(default)s")
    parser.add_argument("--epochs", type=float, default=1.0, help="passes through the examples; default: %(default)s")
    parser.add_argument("--learning-rate", type=float, default=1e-5, help="default: %(default)s")
    parser.add_argument("--save-every", type=int, default=100, metavar="N", help="updates between checkpoints; default: %(default)s")
    parser.add_argument("--lora", action="store_true", help="train a LoRA adapter of rank 16 instead of all weights")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Makes the examples, and trains. Yields lines for the terminal.

    Raises:
        RunError: If the step ``data`` is missing, torch is missing, or the arguments differ from those with which this step began.
        EvaluationError: If no teacher is configured.
        ModelError: If the teacher does not answer. The step can be continued.
    """
    if arguments.train:
        require_torch()
        if arguments.batch % arguments.micro_batch:
            raise RunError("--batch must be a multiple of --micro-batch")
    folder = Run(arguments.run)
    config = {name: getattr(arguments, name) for name in ("examples", "seed", "sessions", "direct", "teacher", "max_tokens")}
    folder.begin("warm-up", {**config, "train": folder.digest(TRAIN)})
    chosen = _chosen(folder, arguments)
    if arguments.teacher:
        model = EndpointModel(
            working_settings(Settings()), replies=folder.folder / TEACHER_ANSWERS, purpose="the teacher", max_tokens=arguments.max_tokens
        )
        try:
            prompts = [user.prompt(example, most=arguments.sessions, reasoning=not arguments.direct) for user, example in chosen]
            yield estimated_cost(
                Settings(),
                model=model.name,
                calls=len(prompts),
                prompt_tokens=sum(map(tokens_of, prompts)),
                completion_tokens=len(prompts) * arguments.max_tokens,
            )
            if not folder.has(WARM_UP):
                write_taught(folder, chosen, model, most=arguments.sessions, reasoning=not arguments.direct)
        finally:
            model.close()
    else:
        yield "Model calls: 0. Cost: 0."
        if not folder.has(WARM_UP):
            made = [_warm_up_example(*each, most=arguments.sessions, reasoning=not arguments.direct) for each in chosen]
            folder.record("warm-up", examples=folder.write(WARM_UP, made))
    yield f"{folder.folder / WARM_UP}: {sum(1 for _ in folder.read(WARM_UP, WarmUpExample))} examples"
    if arguments.train:
        yield from train_on_examples(folder, arguments.train, {name: getattr(arguments, name) for name in _CONFIG})


def write_taught(run: Run, chosen: list[tuple[UserExamples, Example]], teacher: RankingModel, *, most: int, reasoning: bool) -> None:
    """Writes the examples with a teacher's answers.

    Args:
        run: The run.
        chosen: The examples.
        teacher: The teacher.
        most: Number of sessions to rank.
        reasoning: Whether to reason before ranking.
    """
    prompts = [user.prompt(example, most=most, reasoning=reasoning) for user, example in chosen]
    made = []
    for (user, example), answers in zip(chosen, teacher.answer_all(prompts), strict=True):
        text = taught_answer(answers[0], example, most=most, reasoning=reasoning)
        if text is not None:
            made.append(_example_with(user, example, text, most=most, reasoning=reasoning))
    if not made:
        raise RunError(f"the teacher gave no valid ranking in {len(chosen)} answers; try a larger --max-tokens")
    run.record("warm-up", examples=run.write(WARM_UP, made), rejected=len(chosen) - len(made))


def taught_answer(answer: LLMAnswer, example: Example, *, most: int, reasoning: bool) -> str | None:
    """A teacher's answer in the form of the warm-up, with its reasoning in tags. None: it is no complete ranking.

    Args:
        answer: The answer.
        example: The example.
        most: Number of sessions to rank.
        reasoning: Whether it must have reasoning.
    """
    try:
        ranking = parse_ranking(
            answer.text[: complete_at(answer.text)],
            sessions=len(example.sessions),
            most=most,
            reasoning=reasoning,
            thoughts=answer.thoughts,
        )
    except RecallModelError:
        return None
    text = f"<ranking>{','.join(map(str, ranking.places))}</ranking>"
    if not reasoning:
        return text
    # Reasoning in a separate field may quote the tags.
    thought = ranking.thought.replace("<", "(").replace(">", ")")
    return f"<think>{thought}</think>{text}"


def train_on_examples(run: Run, model: str, config: dict[str, Any]) -> Iterator[str]:
    """Trains a model on the examples. Continues an interrupted training.

    Args:
        run: The run.
        model: A folder or name that transformers loads.
        config: See :func:`training.sift.learning.supervised.fit`.
    """
    from training.sift.learning.supervised import fit

    run.begin("warm-up-model", {**config, "model": model, "examples": run.digest(WARM_UP)})
    target = run.folder / MODEL
    if not target.exists():
        examples = list(run.read(WARM_UP, WarmUpExample))
        fit(model, examples, target, config=config, record=lambda **metrics: run.record("warm-up-model", **metrics))
        write_curves(run, "warm-up.svg", title="Warm-up", x="update", names=("loss",), step="warm-up-model")
    yield f"{target}: the trained model"


def answer_of(example: Example, *, most: int, reasoning: bool) -> str:
    """The answer: relevant sessions first, then the others, both by BM25.

    Args:
        example: An example with relevant sessions.
        most: Number of sessions to rank.
        reasoning: Whether it has reasoning.
    """
    count, gold = len(example.sessions), set(example.gold)
    ordered = sorted(range(count), key=lambda place: (place not in gold, -example.relevance[place], place))
    ranked = ordered[: number_ranked(count, most)]
    named = ", ".join(str(place) for place in ranked if place in gold)
    one = len(gold.intersection(ranked)) == 1
    thought = f"Session{'' if one else 's'} {named} {'has' if one else 'have'} what the query needs. The others share less with it."
    text = f"<ranking>{','.join(map(str, ranked))}</ranking>"
    return f"<think>{thought}</think>{text}" if reasoning else text


def _chosen(run: Run, arguments: argparse.Namespace) -> list[tuple[UserExamples, Example]]:
    """The examples: those with relevant sessions, or for a teacher all."""
    found = drawn_examples(run, TRAIN, lambda each: bool(each.gold or arguments.teacher), seed=arguments.seed)
    return found[: arguments.examples]


def _warm_up_example(user: UserExamples, example: Example, *, most: int, reasoning: bool) -> WarmUpExample:
    answer = answer_of(example, most=most, reasoning=reasoning)
    return _example_with(user, example, answer, most=most, reasoning=reasoning)


def _example_with(user: UserExamples, example: Example, answer: str, *, most: int, reasoning: bool) -> WarmUpExample:
    parse_ranking(answer, sessions=len(example.sessions), most=most, reasoning=reasoning)
    prompt = user.prompt(example, most=most, reasoning=reasoning)
    return WarmUpExample(
        id=example.id,
        prompt=tuple({"role": each.role, "content": each.content} for each in prompt),
        completion=({"role": "assistant", "content": answer},),
    )
