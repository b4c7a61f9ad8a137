"""A simulated LLM behind a real OpenAI-compatible HTTP server, for chaos tests and benchmarks: slow, failing and garbling as it is told to.

What a call sees is drawn from the seed, the prompt, and how often that prompt was asked: it does not depend on the order of calls.
``python -m loadtest.llm_simulator --port 0 --seed 7 --profile chaos`` prints its address as JSON and serves until it is stopped.
``GET /stats`` counts what it was asked.
"""

import argparse
import asyncio
import json
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any, Self

from aiohttp import web

from loadtest.answers import AnswerFunction, extraction_answer
from loadtest.profiles import PROFILES, Plan, Profile, garbled, plan_call
from loadtest.requests import Asked, PrefixCache, tokens_of
from memory.tokens import estimate_tokens

Planner = Callable[[Asked, int], Plan]
"""What a call will see, from what is asked and how often the same prompt was asked before."""


class LLMSimulator:
    """The server. Use it as an async context manager."""

    def __init__(
        self,
        *,
        profile: Profile | None = None,
        seed: int = 0,
        answer: AnswerFunction = extraction_answer,
        planner: Planner | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        model: str = "simulated",
    ) -> None:
        """Nothing listens yet.

        Args:
            profile: How it behaves.
            seed: Draws what each call sees.
            answer: Makes the answer to a prompt.
            planner: Decides what a call sees, instead of the profile's draw.
            host: Address to listen on.
            port: Port to listen on; 0: a free one.
            model: The name it lists.
        """
        self.asked: list[Asked] = []
        """Every request, in order."""
        self.outcomes: Counter[str] = Counter()
        self.peak_concurrency = 0
        self._profile = profile or Profile()
        self._seed = seed
        self._answer = answer
        self._planner = planner or self._draw
        self._host, self._port, self._model = host, port, model
        self._times_asked: Counter[str] = Counter()
        self._prefixes = PrefixCache()
        self._running = 0
        self._tokens: Counter[str] = Counter()
        app = web.Application(client_max_size=64 * 2**20)
        app.add_routes(
            [
                web.post("/v1/chat/completions", self._complete),
                web.get("/v1/models", self._models),
                web.get("/stats", self._stats),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)

    @property
    def base_url(self) -> str:
        """Where it listens, as clients want it."""
        return f"http://{self._host}:{self._port}/v1"

    async def start(self) -> None:
        """Begins to listen.

        Raises:
            OSError: If the port is in use.
        """
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Hangs up on everybody."""
        await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _draw(self, asked: Asked, times: int) -> Plan:
        return plan_call(self._profile, self._rng(asked, times, "plan"))

    def _rng(self, asked: Asked, times: int, purpose: str) -> Random:
        return Random(f"{self._seed}/{asked.hash}/{times}/{purpose}")

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": self._model, "object": "model", "owned_by": "varve", "created": 0}]})

    async def _stats(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "calls": len(self.asked),
                "different_prompts": len(self._times_asked),
                "peak_concurrency": self.peak_concurrency,
                "outcomes": dict(self.outcomes),
                "tokens": dict(self._tokens),
            }
        )

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        asked = Asked.read(await request.json())
        self.asked.append(asked)
        refusal = self._refusal(asked)
        if refusal is not None:
            self.outcomes["400"] += 1
            return _error(400, refusal)
        times = self._times_asked[asked.hash]
        self._times_asked[asked.hash] += 1
        plan = self._planner(asked, times)
        crowd = self._profile.max_concurrent
        if crowd is not None and self._running >= crowd:
            plan = Plan(status=429, retry_after_s=self._profile.retry_after_s)
        if plan.status != 200:
            self.outcomes[str(plan.status)] += 1
            return _error(plan.status, "simulated failure", retry_after_s=plan.retry_after_s)
        self._running += 1
        self.peak_concurrency = max(self.peak_concurrency, self._running)
        try:
            return await self._serve(request, asked, plan, self._rng(asked, times, "garble"))
        except (asyncio.CancelledError, ConnectionError):
            self.outcomes["hung_up"] += 1
            raise
        finally:
            self._running -= 1

    def _refusal(self, asked: Asked) -> str | None:
        profile, form = self._profile, (asked.body.get("response_format") or {}).get("type")
        if form == "json_schema" and not profile.json_schema:
            return "response_format of type 'json_schema' is not supported with this model"
        if form == "json_object" and not profile.json_object:
            return "'response_format' of type 'json_object' is not supported with this model"
        if "stream_options" in asked.body and not profile.stream_options:
            return "Unrecognized request argument supplied: stream_options"
        if "max_tokens" in asked.body and not profile.max_tokens:
            return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        return None

    async def _serve(self, request: web.Request, asked: Asked, plan: Plan, rng: Random) -> web.StreamResponse:
        text = self._answer(asked)
        if plan.garble is not None:
            text = garbled(text, plan.garble, rng)
        pieces, finish = tokens_of(text), "stop"
        if asked.max_tokens is not None and len(pieces) > asked.max_tokens:
            pieces, finish = pieces[: asked.max_tokens], "length"
        prompt_tokens, completion_tokens = estimate_tokens(asked.prompt), len(pieces)
        usage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self._prefixes.cached_tokens(asked.prompt)},
        }
        self._tokens.update(prompt=prompt_tokens, completion=completion_tokens)
        if plan.silent_after is None:
            await asyncio.sleep(plan.first_token_s)
        if not asked.stream:
            await self._until_given_up(plan.silent_after is not None)
            await asyncio.sleep(plan.token_s * len(pieces))
            self.outcomes[finish] += 1
            choice = {"index": 0, "message": {"role": "assistant", "content": "".join(pieces)}, "finish_reason": finish}
            return web.json_response({**self._envelope("chat.completion"), "choices": [choice], "usage": usage})
        return await self._stream(request, asked, plan, pieces, finish, usage)

    async def _stream(
        self, request: web.Request, asked: Asked, plan: Plan, pieces: list[str], finish: str, usage: dict[str, Any]
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        silent_at = None if plan.silent_after is None else int(plan.silent_after * len(pieces))
        cut_at = None if plan.cut_after is None else int(plan.cut_after * len(pieces))
        for place, piece in enumerate(pieces):
            await self._until_given_up(place == silent_at)
            if place == cut_at and request.transport is not None:
                self.outcomes["cut"] += 1
                request.transport.abort()
                return response
            await self._send(response, [{"index": 0, "delta": {"content": piece}, "finish_reason": None}])
            if plan.token_s:
                await asyncio.sleep(plan.token_s)
        await self._send(response, [{"index": 0, "delta": {}, "finish_reason": finish}])
        if asked.stream_usage:
            await self._send(response, [], usage=usage)
        await response.write(b"data: [DONE]\n\n")
        self.outcomes[finish] += 1
        return response

    async def _send(self, response: web.StreamResponse, choices: list[dict[str, Any]], **more: Any) -> None:
        chunk = {**self._envelope("chat.completion.chunk"), "choices": choices, **more}
        await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def _envelope(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{len(self.asked)}", "object": kind, "created": int(time.time()), "model": self._model}

    async def _until_given_up(self, silent: bool) -> None:
        if silent:
            await asyncio.Event().wait()


def _error(status: int, message: str, *, retry_after_s: float | None = None) -> web.Response:
    headers = {} if retry_after_s is None else {"Retry-After": f"{retry_after_s:g}"}
    return web.json_response({"error": {"message": message, "type": "simulated", "code": None}}, status=status, headers=headers)


async def _serve_until_stopped(simulator: LLMSimulator) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with simulator:
        print(json.dumps({"base_url": simulator.base_url}), flush=True)
        await stopped.wait()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="A simulated OpenAI-compatible LLM.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--profile", choices=sorted(PROFILES), default="calm")
    given = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve_until_stopped(LLMSimulator(profile=PROFILES[given.profile], seed=given.seed, host=given.host, port=given.port)))


if __name__ == "__main__":
    main()
