"""Reads records of ``messages``: checks whether Varve, a producer that signs or any producer wrote them, and prepares messages."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Final, NamedTuple

from control.message_signing import SigningPolicy
from control.tenants import TenantDirectory
from memory.errors import MalformedRecordError
from memory.headers import KIND
from memory.ids import message_id
from memory.messages.binary_data import message_without_binary
from memory.messages.message_preparation import LoggedMessage, MessageSettings, prepared, read_message
from memory.records import Message, MessageChange
from memory.records.limits import check_message_size
from memory.signatures import SIGNATURE, Signature
from memory.texts.text import estimate_tokens
from runtime.metrics import Metrics
from runtime.seals import BAD_SIGNATURE, FORGED_HEADER, SEAL, UNSIGNED, Keyring, is_reserved
from runtime.settings import Settings, SigningSettings
from streams.engine.records import ConsumedRecord
from streams.errors import PoisonRecordError
from streams.stages.sessions.windows import SessionMessage, milliseconds
from streams.stages.tenancy import tenant_of

LONG_TEXT: Final = 10_000
"""Characters from which markup is removed in a thread: removal takes about half a microsecond for each."""


class Provenance(NamedTuple):
    """Facts about a record before it is read."""

    is_proven: bool
    """Varve has checked its sender."""
    may_be_late: bool = False
    """An operator has redriven it: its signature was made long before it was appended."""


_BELIEVED: Final = Provenance(is_proven=True)
_UNKNOWN: Final = Provenance(is_proven=False)


class ProvenanceCheck:
    """Refuses records that only Varve may write and that lack its seal, and messages without the signature that their tenant requires.

    All times are the log's own, so that a replay decides in the same way.

    Args:
        settings: The master secret, and the maximum age of a signature.
    """

    def __init__(self, *, settings: SigningSettings, metrics: Metrics) -> None:
        self._keyring = Keyring.of(settings)
        self._since_ms = None if settings.since is None else settings.since.timestamp() * 1000
        self._max_age_ms = settings.max_age_s * 1000
        self._unsigned = metrics.records.labels("sessions", UNSIGNED)

    def of(self, record: ConsumedRecord) -> Provenance:
        """Checks the record's seal.

        Raises:
            PoisonRecordError: ``forged_header``: it has a header that only Varve may write, and no valid seal.
        """
        if self._keyring is None or self._is_before(record):
            return _UNKNOWN
        names = [name for name, _ in record.headers if is_reserved(name)]
        if not names:
            return _UNKNOWN
        if SEAL not in names:
            hint = "ask the query service to flush" if KIND in names else "leave it out"
            raise PoisonRecordError(FORGED_HEADER, f"{names[0]!r} is a header of Varve's own: {hint}")
        seal = self._keyring.read_seal(key=record.key, value=record.value, headers=record.headers, partition=record.partition)
        if seal is None:
            raise PoisonRecordError(
                FORGED_HEADER, f"{SEAL} is not right: the record was changed, or a process has another VARVE_SIGNING__SECRET than this one"
            )
        if not self._is_in_time(record, seal.sealed_ms):
            raise PoisonRecordError(FORGED_HEADER, f"{SEAL} was made {self._distance(record, seal.sealed_ms)}: a copy, or a wrong clock")
        return _BELIEVED if seal.basis == "own" else Provenance(is_proven=False, may_be_late=seal.basis == "redriven")

    def check(self, record: ConsumedRecord, provenance: Provenance, message: Message | MessageChange, policy: SigningPolicy) -> None:
        """Checks the signature of a message, if one is required or present.

        Raises:
            PoisonRecordError: ``unsigned`` or ``bad_signature``.
        """
        if provenance.is_proven:
            return
        header = record.header(SIGNATURE)
        if header is None:
            if policy.is_required(record.appended_ms) and not self._is_before(record):
                raise PoisonRecordError(UNSIGNED, f"tenant {message.tenant!r} requires signed messages, and {SIGNATURE} is missing")
            self._unsigned.inc()
            return
        if self._keyring is None and not policy.is_required(record.appended_ms):
            return
        problem = self._problem(record, header, provenance, message, policy)
        if problem is not None:
            raise PoisonRecordError(BAD_SIGNATURE, f"{SIGNATURE}: {problem}")

    def _problem(
        self, record: ConsumedRecord, header: bytes, provenance: Provenance, message: Message | MessageChange, policy: SigningPolicy
    ) -> str | None:
        if self._keyring is None:
            return "it cannot be checked: this worker has no VARVE_SIGNING__SECRET"
        signature = Signature.parse(header)
        if signature is None:
            return "it is not of the form v1:<key id>:<milliseconds>:<64 hexadecimal digits>"
        if not policy.accepts(signature.key_id, record.appended_ms):
            return f"tenant {message.tenant!r} has no signing key {signature.key_id!r}, or it was retired"
        if not self._keyring.is_right(signature, record.value or b"", message.tenant):
            return f"the code is not that of the value under key {signature.key_id!r} of tenant {message.tenant!r}"
        if message.id is None:
            return "a signed message needs an id: without one, a copy of the record would count as another message"
        if not (provenance.may_be_late or self._is_in_time(record, signature.signed_ms)):
            return f"it was made {self._distance(record, signature.signed_ms)}: a copy, or a wrong clock"
        return None

    def _is_before(self, record: ConsumedRecord) -> bool:
        return self._since_ms is not None and record.appended_ms < self._since_ms

    def _is_in_time(self, record: ConsumedRecord, made_ms: int) -> bool:
        return abs(record.appended_ms - made_ms) <= self._max_age_ms

    @staticmethod
    def _distance(record: ConsumedRecord, made_ms: int) -> str:
        seconds = (record.appended_ms - made_ms) / 1000
        return f"{abs(seconds):.0f} s {'before' if seconds > 0 else 'after'} the append time"


class MessageReader:
    """Reads messages in the form that windows store."""

    def __init__(self, *, settings: Settings, tenants: TenantDirectory, metrics: Metrics) -> None:
        self.provenance = ProvenanceCheck(settings=settings.signing, metrics=metrics)
        self._tenants = tenants
        self._max_record_bytes = settings.kafka.max_record_bytes
        self._max_future_ms = int(settings.sessions.max_future_s * 1000)

    def read(self, record: ConsumedRecord, provenance: Provenance, *, traceparent: str) -> "Reading":
        """Checks a message's sender, size and time.

        Raises:
            RecordError: If it is not a message, or too large.
            PoisonRecordError: If its tenant is unknown, its signature is not accepted, or its time is too far in the future.
        """
        if record.value is None:
            raise MalformedRecordError("a message without a value")
        check_message_size(record.value, self._max_record_bytes)
        logged = read_message(record.value)
        message = logged.message
        settings = tenant_of(self._tenants, message.tenant)
        self.provenance.check(record, provenance, message, settings.signing)
        # Compared with the log's own time, so that a replay decides in the same way. Forwarded and redriven records are appended again.
        if milliseconds(message.event_time) > record.appended_ms + self._max_future_ms:
            raise PoisonRecordError(
                "future_dated",
                f"event_time {message.event_time.isoformat()} is later than the time the record was appended at, "
                f"{datetime.fromtimestamp(record.timestamp, UTC).isoformat()}: redrive it when its time has come",
            )
        is_long = bool(settings.messages.unescape) and len(message.text) > LONG_TEXT
        return Reading(is_long, partial(self._prepared, record, record.value, logged, settings.messages, traceparent))

    def _prepared(
        self, record: ConsumedRecord, raw: bytes, logged: LoggedMessage, settings: MessageSettings, traceparent: str
    ) -> tuple[Message, SessionMessage]:
        sent = logged.message
        identity = sent.id or message_id(sent.tenant, sent.session, str(record.origin))
        message, raw = prepared(raw, logged, settings, identity=identity)
        kept = message_without_binary(message)
        if kept is not message:
            message, raw = kept, kept.to_json()
        check_message_size(raw, self._max_record_bytes)
        event_ms, tokens = milliseconds(message.event_time), estimate_tokens(message.text)
        return message, SessionMessage(identity, message.user, event_ms, tokens, raw, record.offset, traceparent)


class Reading(NamedTuple):
    """A message that was checked and is not prepared yet."""

    is_long: bool
    """Whether the preparation takes so long that it needs a thread."""
    prepare: Callable[[], tuple[Message, SessionMessage]]
    """Gives the message and its form for a window: with an id, and within the size limit. Raises RecordError if it is too large."""
