"""The five scenarios through one real stack, each with its sample conversation: what each is for, compared with what its sample states."""

import asyncio
import io
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from rich.console import Console
from varve_client import AsyncVarveClient

from control import ControlWriter, Draft
from control.access_keys import hash_key, new_api_key
from control.key_changes import add_key
from control.tenant_changes import add_tenant
from memory.records import Memory
from memory.schema import sample_conversation, scenario, scenario_names
from runtime.clocks import SystemClock
from varve.demo.report import read_contents
from varve.demo.views import rendered, shown
from varve.embedded.lifecycle import temporary_stack
from varve.lag import wait_for_zero_lag

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

Shown = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def entities(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Memory]]:
    """The entities of each scenario, once its sample is through."""
    return asyncio.run(_fed(tmp_path_factory.mktemp("scenarios")))


@pytest.fixture
def seen(entities: dict[str, list[Memory]]) -> Callable[[str], Shown]:
    return lambda name: shown(scenario(name), entities[name])


async def _fed(folder: Path) -> dict[str, list[Memory]]:
    async with temporary_stack(folder) as running:
        settings = running.settings
        keys = {name: new_api_key() for name in scenario_names()}
        await ControlWriter(settings=settings).write(lambda draft: _tenants(draft, keys), action="tenants of a test", by="a test")
        for name, key in keys.items():
            async with AsyncVarveClient(running.file.service_url, api_key=key) as service:
                await service.send(sample_conversation(name))
                await service.flush()
        await wait_for_zero_lag(settings, progress=lambda stage, lag: None)
        contents = await read_contents(settings)
    assert contents.dead_letters == ()
    return {name: [each for each in contents.of_kind("entity") if each.tenant == name.replace("_", "-")] for name in keys}


def _tenants(draft: Draft, keys: dict[str, str]) -> None:
    for name, key in keys.items():
        add_tenant(draft, name.replace("_", "-"), schema=name)
        add_key(draft, name.replace("_", "-"), hash_key(key), now=SystemClock().now())


def stated(name: str, event_type: str) -> list[dict[str, Any]]:
    """The arguments of the sample's tool calls of one name."""
    calls = [call for turn in sample_conversation(name) if (call := turn.get("tool_call")) and call["name"] == event_type]
    return [call["arguments"] for call in calls]


def by(rows: Sequence[dict[str, Any]], key: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return groups


def test_education_shows_mastery_the_weakest_first(seen: Callable[[str], Shown]) -> None:
    expected = {
        point: (len(rows), pytest.approx(fmean(row["score"] for row in rows)))
        for point, rows in by(stated("education", "exercise"), "knowledge_point").items()
    }
    mastery = [row for row in seen("education")["mastery"] if "exercises" in row]
    assert {row["knowledge_point"]: (row["exercises"], row["accuracy"]) for row in mastery} == expected
    assert mastery[0]["knowledge_point"] == "word problems"
    assert "the area is the product of the sides" in mastery[0]["weak_points"]


def test_agent_tools_show_failures_and_lessons(seen: Callable[[str], Shown]) -> None:
    calls = [call for turn in sample_conversation("agent_tools") if (call := turn.get("tool_call")) and "duration_ms" in call]
    tools = {row["tool_name"]: row for row in seen("agent_tools")["tool_experience"]}
    for name, uses in by(calls, "name").items():
        assert tools[name]["calls"] == len(uses)
        assert tools[name]["failure_rate"] == pytest.approx(fmean(not use["success"] for use in uses))
    for name, lessons in by(stated("agent_tools", "lesson"), "tool_name").items():
        assert tools[name]["learned"] == [each["lesson"] for each in lessons]
    assert "statement timeout after 30000 ms" in tools["sql_query"]["frequent_errors"]


def test_a_shop_shows_interests_that_fade(seen: Callable[[str], Shown]) -> None:
    (current,) = seen("search_recommendation")["current_interests"]
    assert current["categories"][0] == "skiing"
    assert "tents" not in current["categories"]
    interests = {row["category"]: row for row in seen("search_recommendation")["category_interest"]}
    bought = by(stated("search_recommendation", "purchase"), "category")
    assert {name: interests[name]["items_bought"] for name in bought} == {
        name: sum(row["quantity"] for row in rows) for name, rows in bought.items()
    }
    assert interests["shoes"]["average_stars"] > interests["shoes"]["current_stars"] - 1
    assert interests["tents"]["current_stars"] == pytest.approx(5)


def test_meetings_show_a_weekly_report(seen: Callable[[str], Shown]) -> None:
    reports = {row["week"]: row for row in seen("meetings")["weekly_report"]}
    last = reports["2024-W38"]
    assert last["decided"] == ["the old gateway is switched off on 27 September"]
    assert last["to_do"] == ["get new contracts for the last merchants"]
    assert sorted(last["done"])[0] == "ask legal about skipping the fraud check"
    assert reports["2024-W37"]["worst_risk"] == 5
    tasks = by(stated("meetings", "action_item"), "owner")
    workload = {row["owner"]: row.get("tasks") for row in seen("meetings")["workload"]}
    assert {owner: workload[owner] for owner in tasks} == {owner: len(rows) for owner, rows in tasks.items()}


def test_a_companion_shows_moods_and_promises(seen: Callable[[str], Shown]) -> None:
    weeks = {row["week"]: row for row in seen("companion")["mood_week"]}
    assert weeks["2024-W10"]["average_score"] == pytest.approx(fmean((9, 6)))
    assert weeks["2024-W19"]["feelings"] == ["overjoyed"]
    promises = {row["who"]: row for row in seen("companion")["promises"]}
    assert promises["Mara"]["promises"][-1] == "to knit a blanket for the baby of Lene"
    assert promises["Mara"]["next_due"] == "2024-11"
    running = next(row for row in seen("companion")["training_log"] if row["kind"] == "running")
    assert running["total_km"] == pytest.approx(
        sum(row["distance_km"] for row in stated("companion", "workout") if row["kind"] == "running")
    )
    (profile,) = seen("companion")["user_profile"]
    assert {name: profile[name] for name in ("occupation", "relationships", "preferences")} == {
        "occupation": "children's librarian",
        "relationships": "sister: Lene\nboss: Signe",
        "preferences": "likes khachapuri\ndislikes mushrooms",
    }


@pytest.mark.parametrize("name", scenario_names())
def test_nothing_that_is_shown_is_cut_off(name: str, entities: dict[str, list[Memory]]) -> None:
    with io.StringIO() as printed:
        console = Console(file=printed, width=120)
        for each in rendered(scenario(name), entities[name]):
            console.print(each)
        text = printed.getvalue()
    words = {word for rows in shown(scenario(name), entities[name]).values() for row in rows for word in _words(row)}
    assert words
    assert "…" not in text
    folded = "".join(text.split())
    assert [word for word in words if word not in text and word not in folded] == []


def _words(row: dict[str, Any]) -> set[str]:
    texts = [value if isinstance(value, list) else [value] for value in row.values() if isinstance(value, str | list)]
    return {word for text in texts for line in text for word in str(line).split() if len(word) < 12 and word.isalnum()}
