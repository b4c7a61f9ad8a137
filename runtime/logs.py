"""Logs of every process: structlog in JSON or for the console, on standard error, libraries' logs in the same format.

Tenant, stage and trace id come from the context (``structlog.contextvars.bound_contextvars``). No message text is logged at info level or
above; at debug level the Kafka client logs whole records.
"""

import logging
import sys
import time
from collections.abc import Callable
from typing import Final

import orjson
import structlog
from structlog.typing import EventDict, Processor

from memory.texts.visible_text import visible
from runtime.settings import LogSettings

Logger = structlog.stdlib.BoundLogger

_NOISY_AT_INFO: Final = ("aiokafka", "faust", "mode", "httpx", "httpcore", "uvicorn.access", "aiohttp.access")
"""Libraries that write a line per connection or request at info level."""
_REPEATED_AFTER_S: Final = 30.0
_MOST_REPEATED: Final = 100
"""Different lines of libraries whose repetitions are counted."""


class RepetitionFilter(logging.Filter):
    """Drops the repetitions of a library's warning or error for 30 s, and then adds their number as ``repeated``.

    Without Kafka, its client logs several equal errors a second.

    Args:
        clock: Steady seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._written: dict[tuple[str, str], tuple[float, int]] = {}
        """Time of the last written line, and the number of dropped ones since, by logger and message."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write a line."""
        if record.levelno < logging.WARNING or record.name.partition(".")[0] not in _NOISY_AT_INFO:
            return True
        line, now = (record.name, record.getMessage()), self._clock()
        written_at, dropped = self._written.pop(line, (None, 0))
        if written_at is not None and now - written_at < _REPEATED_AFTER_S:
            self._written[line] = written_at, dropped + 1
            return False
        self._written[line] = now, 0
        if len(self._written) > _MOST_REPEATED:
            del self._written[next(iter(self._written))]
        if dropped:
            record.repeated = dropped
        return True


def configure_logging(log: LogSettings, *, stage: str) -> None:
    """Sets up this process's logs; call it once, before anything logs.

    Args:
        log: Level and format.
        stage: Added to every line: a stage's name, ``service`` or ``cli``.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(RepetitionFilter())
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=_last_processors(log)))
    root = logging.getLogger()
    root.handlers = [handler]
    level = logging.getLevelName(log.level.upper())
    root.setLevel(level)
    for name in _NOISY_AT_INFO:
        logging.getLogger(name).setLevel(level if log.level == "debug" else max(level, logging.WARNING))
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(stage=stage)


def log_to_stderr() -> None:
    """Sends log lines to standard error if logs are not configured, because standard output contains a command's result."""
    if isinstance(structlog.get_config()["logger_factory"], structlog.PrintLoggerFactory):
        # Looked up for each line, so that a replaced stream receives the following lines.
        structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))


def logger(name: str) -> Logger:
    """A logger that adds the context's fields. Events are snake_case constants; variable parts are fields, a cause is ``error``."""
    return structlog.stdlib.get_logger(name)


def _without_colours(_: object, __: str, event: EventDict) -> EventDict:
    """Removes uvicorn's second copy of its message, which has colours for a terminal."""
    event.pop("color_message", None)
    return event


def _visible(_: object, __: str, event: EventDict) -> EventDict:
    """Escapes what a terminal would act on: values and errors may quote a record or a request. JSON escapes it anyway."""
    event = {name: visible(each) if isinstance(each, str) else each for name, each in event.items()}
    # A message of a library; structlog itself quotes line breaks in values.
    event["event"] = str(event["event"]).replace("\n", "\\n")
    return event


def _last_processors(log: LogSettings) -> list[Processor]:
    if log.format == "json":
        render: list[Processor] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_dump)]
    else:
        # Not the rich traceback: it prints local variables, which contain messages' texts.
        console = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
        render = [structlog.processors.format_exc_info, _visible, console]
    return [structlog.stdlib.ProcessorFormatter.remove_processors_meta, _without_colours, *render]


def _dump(event: object, **_: object) -> str:
    return orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()
