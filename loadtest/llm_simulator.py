"""A simulated LLM in a real OpenAI-compatible HTTP server, for chaos tests and benchmarks. Its profile says how it fails.

The outcome of a call is drawn from the seed, the prompt, and how often that prompt was sent before; the order of calls changes nothing.
``python -m loadtest.llm_simulator --port 0 --seed 7 --profile chaos`` prints its address as JSON and serves until it is stopped.
``GET /stats`` counts its calls.
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

from loadtest.answers import AnswerFunction, ToolUse, extraction_answer
from loadtest.profiles import PROFILES, Plan, Profile, garbled, plan_call
from loadtest.requests import ChatRequest, PrefixCache, tokens_of
from memory.texts.text import estimate_tokens

Planner = Callable[[ChatRequest, int], Plan]
"""The outcome of a call, from its request and from how often the same prompt was sent before."""


class LLMSimulator:
    """The server. Use it as an async context manager; nothing listens before it is entered.

    Args:
        profile: Its behaviour.
        seed: Seed of the outcomes.
        answer: Makes the answer to a prompt.
        planner: Decides the outcome of a call, instead of the profile's draw.
        host: Address to listen on.
        port: Port to listen on; 0: a free one.
        model: The name of its model.
    """

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
        self.requests: list[ChatRequest] = []
        """Every request, in order."""
        self.outcomes: Counter[str] = Counter()
        self.peak_concurrency = 0
        self._profile = profile or Profile()
        self._seed = seed
        self._answer = answer
        self._planner = planner or self._draw
        self._host, self._port, self._model = host, port, model
        self._prompt_counts: Counter[str] = Counter()
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
        """Its base URL for clients."""
        return f"http://{self._host}:{self._port}/v1"

    async def start(self) -> None:
        """Starts the server.

        Raises:
            OSError: If the port is in use.
        """
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Closes all connections."""
        await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _draw(self, chat: ChatRequest, earlier_calls: int) -> Plan:
        return plan_call(self._profile, self._rng(chat, earlier_calls, "plan"))

    def _rng(self, chat: ChatRequest, earlier_calls: int, purpose: str) -> Random:
        return Random(f"{self._seed}/{chat.hash}/{earlier_calls}/{purpose}")

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": self._model, "object": "model", "owned_by": "varve", "created": 0}]})

    async def _stats(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "calls": len(self.requests),
                "different_prompts": len(self._prompt_counts),
                "peak_concurrency": self.peak_concurrency,
                "outcomes": dict(self.outcomes),
                "tokens": dict(self._tokens),
            }
        )

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        chat = ChatRequest.read(await request.json())
        self.requests.append(chat)
        refusal = self._refusal(chat)
        if refusal is not None:
            self.outcomes["400"] += 1
            return _error(400, refusal)
        earlier_calls = self._prompt_counts[chat.hash]
        self._prompt_counts[chat.hash] += 1
        plan = self._planner(chat, earlier_calls)
        limit = self._profile.max_concurrent
        if limit is not None and self._running >= limit:
            plan = Plan(status=429, retry_after_s=self._profile.retry_after_s)
        if plan.status != 200:
            self.outcomes[str(plan.status)] += 1
            return _error(plan.status, "simulated failure", retry_after_s=plan.retry_after_s)
        self._running += 1
        self.peak_concurrency = max(self.peak_concurrency, self._running)
        try:
            return await self._serve(request, chat, plan, self._rng(chat, earlier_calls, "garble"))
        except (asyncio.CancelledError, ConnectionError):
            self.outcomes["hung_up"] += 1
            raise
        finally:
            self._running -= 1

    def _refusal(self, chat: ChatRequest) -> str | None:
        profile, form = self._profile, (chat.body.get("response_format") or {}).get("type")
        if form == "json_schema" and not profile.json_schema:
            return "response_format of type 'json_schema' is not supported with this model"
        if form == "json_object" and not profile.json_object:
            return "'response_format' of type 'json_object' is not supported with this model"
        if "stream_options" in chat.body and not profile.stream_options:
            return "Unrecognized request argument supplied: stream_options"
        if "max_tokens" in chat.body and not profile.max_tokens:
            return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        return None

    async def _serve(self, request: web.Request, chat: ChatRequest, plan: Plan, rng: Random) -> web.StreamResponse:
        text = self._answer(chat)
        if isinstance(text, ToolUse):
            self.outcomes["tool_calls"] += 1
            return web.json_response(self._tool_call(text))
        if plan.garble is not None:
            text = garbled(text, plan.garble, rng)
        pieces, finish = tokens_of(text), "stop"
        if chat.max_tokens is not None and len(pieces) > chat.max_tokens:
            pieces, finish = pieces[: chat.max_tokens], "length"
        prompt_tokens, completion_tokens = estimate_tokens(chat.prompt), len(pieces)
        usage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self._prefixes.cached_tokens(chat.prompt)},
        }
        self._tokens.update(prompt=prompt_tokens, completion=completion_tokens)
        if plan.silent_after is None:
            await asyncio.sleep(plan.first_token_s)
        if not chat.stream:
            await self._hang_if(plan.silent_after is not None)
            await asyncio.sleep(plan.token_s * len(pieces))
            self.outcomes[finish] += 1
            choice = {"index": 0, "message": {"role": "assistant", "content": "".join(pieces)}, "finish_reason": finish}
            return web.json_response({**self._envelope("chat.completion"), "choices": [choice], "usage": usage})
        return await self._stream(request, chat, plan, pieces, finish, usage)

    async def _stream(
        self, request: web.Request, chat: ChatRequest, plan: Plan, pieces: list[str], finish: str, usage: dict[str, Any]
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        silent_at = None if plan.silent_after is None else int(plan.silent_after * len(pieces))
        cut_at = None if plan.cut_after is None else int(plan.cut_after * len(pieces))
        for index, piece in enumerate(pieces):
            await self._hang_if(index == silent_at)
            if index == cut_at and request.transport is not None:
                self.outcomes["cut"] += 1
                request.transport.abort()
                return response
            await self._send(response, [{"index": 0, "delta": {"content": piece}, "finish_reason": None}])
            if plan.token_s:
                await asyncio.sleep(plan.token_s)
        await self._send(response, [{"index": 0, "delta": {}, "finish_reason": finish}])
        if chat.stream_usage:
            await self._send(response, [], usage=usage)
        await response.write(b"data: [DONE]\n\n")
        self.outcomes[finish] += 1
        return response

    async def _send(self, response: web.StreamResponse, choices: list[dict[str, Any]], **more: Any) -> None:
        chunk = {**self._envelope("chat.completion.chunk"), "choices": choices, **more}
        await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def _tool_call(self, use: ToolUse) -> dict[str, Any]:
        function = {"name": use.name, "arguments": json.dumps(use.arguments)}
        call = {"id": f"call-{len(self.requests)}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return {**self._envelope("chat.completion"), "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}

    def _envelope(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{len(self.requests)}", "object": kind, "created": int(time.time()), "model": self._model}

    async def _hang_if(self, silent: bool) -> None:
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
