"""Health server of a process, on a separate port: ``/healthz``, ``/readyz``, ``/metrics`` and optionally ``/status``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import orjson
from aiohttp import web

from runtime.background import BackgroundWorks
from runtime.metrics import CONTENT_TYPE, Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """State of one readiness condition."""

    ok: bool
    needed: bool = True
    """Whether the process is ready only if the condition holds."""
    problem: str | None = None

    @classmethod
    def of_background(cls, background: BackgroundWorks) -> "Mapping[str, Self]":
        """The check of a process's background work. It is not needed for readiness: no request and no record waits for that work."""
        return {"background_work": cls(ok=background.problem is None, needed=False, problem=background.problem)}


class ProbeServer:
    """Serves health, readiness and metrics of its process. It checks nothing itself, so a request is cheap.

    Args:
        port: Port to listen on; 0: a free port.
        ready: Returns the readiness conditions by name (``assigned``, ``recovered``); all needed ones must hold.
        metrics: The metrics for ``/metrics``.
        status: Returns the JSON for ``/status``. Default: no such page.
    """

    def __init__(
        self,
        *,
        host: str,
        port: int,
        ready: Callable[[], Mapping[str, bool | Check]],
        metrics: Metrics,
        status: Callable[[], Mapping[str, object]] | None = None,
    ) -> None:
        self._host = host
        self._port = port
        self._ready = ready
        self._metrics = metrics
        self._status = status
        self._runner: web.AppRunner | None = None

    @property
    def port(self) -> int:
        """The port it listens on; the configured port before the start."""
        if self._runner is None or not self._runner.addresses:
            return self._port
        return int(self._runner.addresses[0][1])

    async def start(self) -> None:
        """Starts listening.

        Raises:
            OSError: If the port is in use.
        """
        app = web.Application()
        app.add_routes(
            [web.get("/healthz", self._healthz), web.get("/readyz", self._readyz), web.get("/metrics", self._show_metrics)],
        )
        if self._status is not None:
            app.add_routes([web.get("/status", self._show_status)])
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except OSError:
            await runner.cleanup()
            raise
        self._runner = runner

    async def stop(self) -> None:
        """Stops listening; may be called repeatedly."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _healthz(self, _: web.Request) -> web.Response:
        return _json({"status": "ok"})

    async def _readyz(self, _: web.Request) -> web.Response:
        checks = dict(self._ready())
        ready = all(check if isinstance(check, bool) else check.ok or not check.needed for check in checks.values())
        return _json({"ready": ready, "checks": checks}, status=200 if ready else 503)

    async def _show_metrics(self, _: web.Request) -> web.Response:
        for name, check in self._ready().items():
            self._metrics.ready.labels(name).set(check if isinstance(check, bool) else check.ok)
        return web.Response(body=self._metrics.render(), headers={"Content-Type": CONTENT_TYPE})

    async def _show_status(self, _: web.Request) -> web.Response:
        assert self._status is not None
        return _json(self._status())


def _json(body: object, *, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")
