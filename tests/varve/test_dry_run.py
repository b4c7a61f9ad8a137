"""``varve extract --dry-run``: the windows and extractions that a conversation would become, by the real rules and models."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner, Result

from memory.schema import sample_conversation
from runtime.settings import Settings
from streams.operations.dry_run import windows_of
from varve.cli.application import app


def typed(*arguments: str, data: Path) -> Result:
    return CliRunner().invoke(app, ("extract", *arguments), env={"VARVE_DATA": str(data), "COLUMNS": "200"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, sample_conversation("companion"))))
    return path


def test_windows_are_cut_as_the_sessions_stage_cuts_them() -> None:
    messages = sample_conversation("companion")
    windows = list(windows_of(messages, Settings(), tenant="acme"))
    assert [message.id for window in windows for message in window.messages] == [message["id"] for message in messages]
    assert {window.closed_by for window in windows} == {"flush"}
    assert [window.session for window in windows] == list(dict.fromkeys(message["session"] for message in messages))


def test_a_repeated_message_is_passed_over() -> None:
    said: dict[str, Any] = {"user": "ann", "session": "s1", "id": "m1", "text": "The dinner is at 7.", "event_time": "2024-05-06T18:00:00Z"}
    of_bob = {**said, "user": "bob", "text": "I come at 8."}
    unnamed = {**said, "id": None, "text": "Great."}
    messages = [said, {**said, "text": "The dinner is at 8."}, of_bob, unnamed, unnamed, {**said, "session": "s2"}]
    windows = list(windows_of(messages, Settings(), tenant="acme"))
    assert [(each.session, [message.text for message in each.messages]) for each in windows] == [
        ("s1", ["The dinner is at 7."]),
        ("s1", ["I come at 8.", "Great.", "Great."]),
        ("s2", ["The dinner is at 7."]),
    ]


def test_each_window_is_shown_with_its_events_and_patches(file: Path, tmp_path: Path) -> None:
    result = typed(str(file), "--dry-run", "--limit", "1", data=tmp_path)
    assert result.exit_code == 0, result.output
    assert "Mara: " in result.stdout
    assert "I got the job at the city library" in result.stdout
    assert "user_profile.preferences" in result.stdout
    assert "1 window, about" in result.stderr
    assert "0 calls (offline, without a model), cost 0.0000; nothing was stored" in result.stderr


def test_json_output_equals_the_future_record(file: Path, tmp_path: Path) -> None:
    result = typed(str(file), "--dry-run", "--json", "--limit", "2", data=tmp_path)
    first, second = map(orjson.loads, result.stdout.splitlines())
    assert first["session"] == "evening-talk"
    assert first["prompt_tokens"] > 500
    assert {"events", "patches", "segments"} <= set(first["extraction"])
    assert second["messages"] == second["extraction"]["message_ids"]


def test_without_dry_run_the_error_names_the_command(file: Path, tmp_path: Path) -> None:
    result = typed(str(file), data=tmp_path)
    assert result.exit_code == 2
    assert "varve send" in result.output


def test_a_message_without_time_is_of_now(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_bytes(orjson.dumps({"text": "I moved to Bergen.", "speaker": "Ann"}))
    result = typed(str(file), "--dry-run", "--user", "ann", "--session", "s1", data=tmp_path)
    assert result.exit_code == 0, result.output
    assert "Ann: I moved to Bergen." in result.stdout


def test_a_refused_message_is_named_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    messages = [{"user": "ann", "session": "s1", "text": "One."}, {"user": "ann", "session": "s1", "text": "Two.", "colour": "red"}]
    file.write_bytes(b"\n".join(map(orjson.dumps, messages)))
    result = typed(str(file), "--dry-run", data=tmp_path)
    assert result.exit_code == 1
    assert str(result.exception) == f"{file}, message 2: colour: unknown field; put further data into metadata"


def test_the_example_of_the_schema_page_becomes_an_event(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "build" / "schemas.md").read_text()
    schema, sale, *_ = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for name, content in (("shop-notes.json", schema), ("sales.json", sale)):
        assert name in page
        (tmp_path / name).write_text(content)
    result = typed(str(tmp_path / "sales.json"), "--dry-run", "--schema", str(tmp_path / "shop-notes.json"), "--json", data=tmp_path)
    assert result.exit_code == 0, result.output
    (event,) = orjson.loads(result.stdout)["extraction"]["events"]
    assert (event["type"], event["properties"]) == ("purchase", {"item": "claw hammer", "price": 12.9})


def test_mistakes_in_stated_events_are_named(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    common = {"user": "ann", "session": "s1", "role": "tool", "text": "Ann moved to Bergen."}
    calls = [{"name": "life_event", "arguments": {"plaec": "Bergen"}}, {"name": "lifeevents", "arguments": {"place": "Bergen"}}]
    file.write_bytes(b"\n".join(orjson.dumps({**common, "tool_call": each}) for each in calls))
    result = typed(str(file), "--dry-run", data=tmp_path)
    assert "1 x property: unknown_property (life_event.plaec)" in result.stdout
    assert "tool call lifeevents states no event, as no event type has this name; did you mean life_event?" in result.stdout
