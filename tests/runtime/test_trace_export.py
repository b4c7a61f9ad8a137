"""Spans on their way out: by OTLP to a collector, or nowhere, and then without the exporter."""

import asyncio
import subprocess
import sys
import time

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic import SecretStr, ValidationError

from runtime import tracing
from runtime.settings import TracingSettings
from runtime.tracing import exporting_spans
from tests.http_server import serving_posts


def _work(settings: TracingSettings, *names: str) -> None:
    with exporting_spans(settings, process="index"):
        for name in names:
            tracing.start_span(name).end()


@pytest.mark.integration
async def test_spans_are_exported_by_otlp() -> None:
    posts: list[tuple[str | None, ExportTraceServiceRequest]] = []

    async def collect(request: web.Request) -> web.Response:
        posts.append((request.headers.get("x-key"), ExportTraceServiceRequest.FromString(await request.read())))
        return web.Response()

    async with serving_posts("/v1/traces", collect) as address:
        settings = TracingSettings(endpoint=f"{address}/v1/traces", headers=SecretStr("X-Key=s3cret=, x-other=2"))
        await asyncio.to_thread(_work, settings, "first", "second")
        async with asyncio.timeout(60):
            while not posts:  # noqa: ASYNC110 - a process that ends waits for 5 s, and the sender continues
                await asyncio.sleep(0.01)
    resources = [resource for _, request in posts for resource in request.resource_spans]
    assert {key for key, _ in posts} == {"s3cret="}
    assert [span.name for each in resources for scope in each.scope_spans for span in scope.spans] == ["first", "second"]
    assert {a.key: a.value.string_value for a in resources[0].resource.attributes}["service.name"] == "varve-index"
    assert not tracing.is_recording()


@pytest.mark.integration
async def test_no_trace_begun_here_is_recorded_at_ratio_zero() -> None:
    posts: list[bytes] = []

    async def collect(request: web.Request) -> web.Response:
        posts.append(await request.read())
        return web.Response()

    async with serving_posts("/v1/traces", collect) as address:
        await asyncio.to_thread(_work, TracingSettings(endpoint=f"{address}/v1/traces", sample_ratio=0), "unseen")
    assert posts == []


def test_the_log_hides_secrets_in_addresses(capsys: pytest.CaptureFixture[str]) -> None:
    _work(TracingSettings(endpoint="http://me:hush-1@127.0.0.1:9/v1/traces?code=hush-2&api_key=hush-3"))
    output = "".join(capsys.readouterr())
    assert "spans_exported" in output
    assert "hush" not in output


def test_an_unavailable_collector_blocks_no_work() -> None:
    began = time.monotonic()
    _work(TracingSettings(endpoint="http://127.0.0.1:9/v1/traces"), "lost")
    assert time.monotonic() - began < 30


def test_without_an_endpoint_no_exporter_is_imported() -> None:
    code = (
        "import sys\n"
        "from runtime.settings import TracingSettings\n"
        "from runtime.tracing import exporting_spans\n"
        "import streams.engine.tasks.batch_runner, streams.engine.keyed.attempts\n"
        "with exporting_spans(TracingSettings(), process='index'):\n"
        "    sys.exit(any(name.startswith(('opentelemetry.sdk.trace', 'opentelemetry.exporter')) for name in sys.modules))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("wrong", [{"endpoint": "collector:4318"}, {"headers": "key"}, {"sample_ratio": 1.5}])
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TracingSettings.model_validate(wrong)
