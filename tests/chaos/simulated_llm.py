"""The LLM of the chaos runs: right answers that follow from the prompt alone, and faults.

``python -m tests.chaos.simulated_llm PORT SEED``. Calls are slow, time out, end early, are refused with 429 and 5xx; answers come fenced,
with broken JSON, cut off, or as prose that is no answer. Whatever goes wrong, the facts that an answer lets through are the right ones,
so that an oracle can compute the expected memories.
"""

import asyncio
import re
import signal
import sys
from collections import Counter
from random import Random
from typing import Any

from extraction.one_pass.answer import form
from loadtest.answers import merge_answer
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from loadtest.requests import ChatRequest
from runtime.settings import ExtractionSettings
from tests.chaos.method_answers import method_answer
from tests.chaos.utterances import fact_in, goal_in
from varve.embedded.ports import HOST

PROSE = "I am sorry, but as a language model I would rather not say."

_ATTEMPTS = ExtractionSettings().attempts
_MESSAGES = re.compile(r"^<<<messages (\w+)\n(.*?)^messages \1>>>$", re.MULTILINE | re.DOTALL)
_MESSAGE = re.compile(r"^\[(\d+)\] [^:\n]*: (.*)$", re.MULTILINE)
_MERGES_REFUSED = 0.05
_STUBBORN = re.compile(r"\bn=40\b")
"""One message of each load: so that each has a letter to drive again, whatever is drawn."""
_BETWEEN_ITEMS = "},{"
_SLOPPY = ("}, , {", "}, /* and */ {", "} {", "},\n\n{")


class Answers:
    """The answers of the model, and the faults of its calls.

    A window in fifty, and one of each load, is stubborn: in each attempt that is made by itself, its answer and that answer's repair are
    prose, so that it ends in the dead letters; driven again, it is answered. A merge in twenty is answered with prose whenever it is
    asked for. Questions of the operators of memory methods are always answered.

    Args:
        seed: All is drawn from it and from the prompt, whatever the order of the calls.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._attempts_refused: Counter[str] = Counter()

    def answer(self, request: ChatRequest) -> str:
        """The answer to a request."""
        of_method = method_answer(request)
        if of_method is not None:
            return of_method
        merged = merge_answer(request)
        if merged is not None:
            # The same in each attempt, so that the rule merges in its place.
            return PROSE if Random(f"{self._seed}/{request.hash}/merge").random() < _MERGES_REFUSED else merged
        messages = _prompt_messages(request)
        rng = Random(f"{self._seed}/{messages}/answer")
        is_stubborn, is_prose, is_sloppy = (rng.random() < share for share in (0.02, 0.05, 0.1))
        is_stubborn |= _STUBBORN.search(messages) is not None
        whole = right_answer(request)
        previous = _previous_answer(request)
        # What no brace is in is prose, also where it was fenced or cut off on its way.
        if is_stubborn and "{" not in (previous or "") and self._attempts_refused[messages] < _ATTEMPTS:
            self._attempts_refused[messages] += previous is not None
            return PROSE
        if previous is not None:
            return whole
        if is_prose:
            return PROSE
        return whole.replace(_BETWEEN_ITEMS, rng.choice(_SLOPPY)) if is_sloppy else whole

    def plan(self, request: ChatRequest, times: int) -> Plan:
        """The outcome of the ``times``-th call with a prompt, from 0."""
        rng = Random(f"{self._seed}/{request.hash}/{times}/plan")
        slow = min(3.0, rng.lognormvariate(-3.0, 1.0))
        share, garbled = rng.uniform(0.1, 0.9), rng.random()
        plans: list[tuple[float, Plan]] = [
            (0.04, Plan(status=429, retry_after_s=0.2)),
            (0.04, Plan(status=rng.choice((500, 503)))),
            (0.01, Plan(silent_after=0.0)),
            (0.02, Plan(first_token_s=slow, cut_after=share)),
            (0.01, Plan(first_token_s=slow, silent_after=share)),
            (0.03, Plan(first_token_s=3.0)),
            (0.08, Plan(first_token_s=slow, garble="fenced")),
            (0.08, Plan(first_token_s=slow, garble=None if _previous_answer(request) else "truncated")),
        ]
        for part, plan in plans:
            if garbled < part:
                return plan
            garbled -= part
        return Plan(first_token_s=slow)


def right_answer(request: ChatRequest) -> str:
    """A complete answer: an event for each message that states one, and a patch for each that states a goal, in order."""
    lists: dict[str, list[Any]] = {form.SEGMENTS: [], form.EVENTS: [], form.PATCHES: []}
    for number, text in _MESSAGE.findall(_prompt_messages(request)):
        fact, goal = fact_in(text), goal_in(text)
        if goal is not None:
            lists[form.PATCHES].append(
                {
                    form.TYPE: "learner_profile",
                    form.FIELD: "goals",
                    form.MESSAGES: [int(number)],
                    form.SEARCH: "",
                    form.REPLACE: goal,
                }
            )
        if fact is not None:
            lists[form.EVENTS].append(
                {
                    form.TYPE: fact.event_type,
                    form.MESSAGES: [int(number)],
                    form.DATE: "",
                    form.CONTENT: text,
                    **fact.properties,
                    form.KEYWORDS: [fact.event_type],
                    form.WEIGHT: 5,
                }
            )
    return form.encode_answer(lists)


def _prompt_messages(request: ChatRequest) -> str:
    """The numbered messages of a prompt, also where a continuation or repair is requested."""
    matches = (_MESSAGES.search(content) for role, content in request.messages if role == "user")
    return next((match[2] for match in matches if match is not None), "")


def _previous_answer(request: ChatRequest) -> str | None:
    """The model's answer that a continuation or repair is requested of."""
    return next((content for role, content in request.messages if role == "assistant"), None)


async def _serve(port: int, seed: int) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    answers = Answers(seed)
    async with LLMSimulator(seed=seed, answer=answers.answer, planner=answers.plan, host=HOST, port=port):
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2])))
