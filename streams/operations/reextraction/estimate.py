"""Reads the windows and the earlier model calls of tenants, to estimate a re-extraction. Nothing is written, and no model is called."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

from control import Draft, read_control
from control.documents import SchemaRef
from control.erasure import subject_of
from control.generations.reading import windows_topic
from control.generations.reextraction_changes import ReextractionRequest
from control.schemas import read_schema, resolve_method_schema
from control.state import ControlState
from memory.errors import KeyFormatError, MalformedRecordError, RecordError
from memory.headers import place_of
from memory.keys import decode_key
from memory.records import Usage, Window
from memory.retention import Limits, keeps_nothing, limits_at
from memory.schema import MemorySchema
from memory.topics import USAGE, WINDOWS
from models.llm.usage import PriceTable
from runtime.kafka import KafkaOffsets, read_topic
from runtime.settings import Settings
from streams.operations.reextraction.sizing import SizeReport, Sizing


async def estimate_reextraction(settings: Settings, request: ReextractionRequest, *, calls_per_minute: int | None = None) -> SizeReport:
    """Estimates windows, messages, model calls, tokens, cost and time of a re-extraction.

    Args:
        settings: The settings of its worker: its model, its prices.
        request: The windows to extract again. A tenant that has the generation already keeps its schema.
        calls_per_minute: The limit of calls. Default: no limit.

    Raises:
        UnknownTenantError: If a tenant does not exist.
        ChangeRefusedError: If there is no such schema.
        SchemaError: If a schema cannot be read.
        ModelConfigurationError: If the price table is wrong or has no price for the model, or a prompt does not fit into the context.
        KafkaUnavailableError: If no broker responds.
    """
    state = await read_control(settings)
    known = Draft(state)
    refs = {each: _ref(known, each, request) for each in request.tenants}
    parsed = {ref: read_schema(known, ref) for ref in set(refs.values())}
    schemas = {tenant: parsed[ref] for tenant, ref in refs.items()}
    prices = PriceTable.load(settings.llm.price_table)
    daily = {each: settings.budget.overridden_by(known.tenant(each).budget).for_reextractions for each in request.tenants}
    sizing = Sizing(settings=settings, prices=prices, schemas=schemas, daily=daily)
    if sizing.model is not None:
        prices.require(sizing.model)
        await _read_calls(settings, sizing)
    await _read_windows(settings, state, sizing, request.since)
    return sizing.report(calls_per_minute=calls_per_minute)


def _ref(known: Draft, tenant_id: str, request: ReextractionRequest) -> SchemaRef:
    tenant = known.tenant(tenant_id)
    if request.generation and tenant.has_generation(request.generation):
        return tenant.schema_of(request.generation)
    return resolve_method_schema(known, str(tenant.live_schema) if request.schema is None else request.schema, request.method)


async def _read_calls(settings: Settings, sizing: Sizing) -> None:
    async for record in read_topic(settings.topic(USAGE.name), settings.kafka):
        with suppress(RecordError, KeyFormatError):
            if record.value is not None and decode_key(record.key or b"")[0] in sizing.schemas:
                sizing.add_call(Usage.from_json(record.value))


async def _read_windows(settings: Settings, state: ControlState, sizing: Sizing, since: datetime | None) -> None:
    topic, now = windows_topic(settings), datetime.now(UTC)
    limits = {each: limits_at(state.tenants[each].retention, now) for each in sizing.schemas}
    start = None
    if since is not None:
        async with KafkaOffsets(kafka=settings.kafka) as offsets:
            start = await offsets.offsets_since([topic], since)
    async for record in read_topic(topic, settings.kafka, start=start):
        try:
            tenant, *user = decode_key(record.key or b"")
            if record.value is None or tenant not in sizing.schemas:
                continue
            place = place_of(record.headers) or record
            if user and state.is_erased(tenant, user[0], WINDOWS.name, place.partition, place.offset):
                continue
            window = Window.from_json(record.value)
        except (KeyFormatError, MalformedRecordError):
            continue
        if not _is_beyond_retention(state, window, limits[tenant], sizing.schemas[tenant]):
            sizing.add_window(window)
        # The broker returns hundreds of records at once: let other tasks run between them.
        await asyncio.sleep(0)


def _is_beyond_retention(state: ControlState, window: Window, limits: Limits, schema: MemorySchema) -> bool:
    users = window.users or [window.user]
    if not limits or any(state.hold_on(window.tenant, subject_of(window.tenant, each)) for each in users):
        return False
    return keeps_nothing(window, limits, schema.type_names)
