import logging
from collections.abc import Iterator

import orjson
import pytest
import structlog

from runtime.logs import RepetitionFilter, configure_logging, logger
from runtime.settings import LogSettings


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def _lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return [orjson.loads(line) for line in captured.err.splitlines()]


def test_json_lines_have_stage_tenant_and_trace(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(format="json"), stage="sessions")
    with structlog.contextvars.bound_contextvars(tenant="acme", trace_id="abc"):
        logger("streams.stages.sessions").info("window closed", messages=20)
    (line,) = _lines(capsys)
    assert line.pop("timestamp")
    assert line == {
        "event": "window closed",
        "level": "info",
        "logger": "streams.stages.sessions",
        "stage": "sessions",
        "tenant": "acme",
        "trace_id": "abc",
        "messages": 20,
    }


def test_library_logs_share_the_form_without_chatter(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(format="json"), stage="service")
    logging.getLogger("aiokafka.consumer").info("chatter")
    logging.getLogger("some.library").warning("disk %s", "full", extra={"path": "/data"})
    (line,) = _lines(capsys)
    assert (line["event"], line["level"], line["stage"], line["path"]) == ("disk full", "warning", "service", "/data")


def test_an_exception_is_logged_with_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(format="json"), stage="service")
    try:
        raise ValueError("odd")
    except ValueError:
        logger("here").exception("failed")
    (line,) = _lines(capsys)
    assert "ValueError: odd" in str(line["exception"])


def test_a_terminal_acts_on_no_quoted_text(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(format="console"), stage="service")
    hostile = "\x1b]0;owned\x07\u202e"
    logger("here").warning("refused", error=hostile, fields={"text": hostile})
    logging.getLogger("some.library").error("failed: %s", f"{hostile}\n2026-11-28 [info] forged")
    try:
        raise ValueError(hostile)
    except ValueError:
        logger("here").exception("failed")
    written = capsys.readouterr().err
    assert written.count("\\u001b]0;owned\\u0007\\u202e") == 3
    assert not {*written} & {*"\x1b\x07\u202e"}
    assert not any(line.startswith("2026-11-28 [info] forged") for line in written.splitlines())


def test_below_the_level_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(format="console", level="warning"), stage="service")
    logger("here").info("quiet")
    assert capsys.readouterr().err == ""
    logger("here").warning("loud", tenant="acme")
    assert "loud" in capsys.readouterr().err


def test_a_librarys_coloured_copy_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(format="json"), stage="service")
    logging.getLogger("uvicorn.error").info("Started server process [%d]", 7, extra={"color_message": "Started [\x1b[36m%d\x1b[0m]"})
    (line,) = _lines(capsys)
    assert line["event"] == "Started server process [7]"
    assert "color_message" not in line


def test_a_librarys_repeated_error_is_counted() -> None:
    now = [0.0]
    filters = RepetitionFilter(clock=lambda: now[0])

    def written(text: str, *, name: str = "aiokafka", level: int = logging.ERROR) -> int | None:
        """The number of repetitions that a line reports. None: it is dropped."""
        record = logging.LogRecord(name, level, "client.py", 1, "Unable to connect to %s", (text,), None)
        return getattr(record, "repeated", 0) if filters.filter(record) else None

    assert written("a:1") == 0
    assert written("b:2") == 0, "another line"
    for now[0] in (0.2, 0.4, 29.9):
        assert written("a:1") is None
    now[0] = 30.1
    assert written("a:1") == 3
    assert written("a:1") is None
    assert written("a:1", name="streams.engine") == 0, "the program's own lines are all written"
    assert written("a:1", name="streams.engine") == 0
    for number in range(1_000):
        written(str(number))
    assert written("b:2") == 0, "memory is bounded"


def test_repeated_errors_of_kafkas_client_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(format="json"), stage="events")
    for _ in range(50):
        logging.getLogger("aiokafka").error("Unable connect to %r: %s", "127.0.0.1:1", "refused")
    (line,) = _lines(capsys)
    assert line["event"] == "Unable connect to '127.0.0.1:1': refused"
