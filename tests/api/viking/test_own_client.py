"""VikingDB's own unmodified client against a whole stack: ``make test-compat`` brings the package."""

from pathlib import Path
from typing import Any

import pytest

from tests.api.own_clients import client_session

pytestmark = [pytest.mark.external, pytest.mark.timeout(600)]

GARDA = "I went sailing on lake Garda with Tom."
COMO = "I went sailing on lake Como with Eve."


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of ``client_session.py``."""
    script = Path(__file__).with_name("client_session.py")
    return client_session(script, tmp_path_factory.mktemp("viking"), setting="VARVE_VIKING__ENABLED", with_scheme=False)


def summaries(response: dict[str, Any]) -> list[str]:
    assert response["code"] == 0
    assert response["data"]["count"] == len(response["data"]["result_list"])
    return [each["memory_info"]["summary"] for each in response["data"]["result_list"]]


def test_a_session_becomes_events_with_evidence(seen: dict[str, Any]) -> None:
    assert seen["added"]["data"] == {"session_id": "talk_1"}
    assert seen["added"]["request_id"]
    assert summaries(seen["listed"]) == [COMO, GARDA]
    garda = seen["listed"]["data"]["result_list"][1]
    assert (garda["user_id"], garda["assistant_id"], garda["group_id"], garda["session_id"]) == (["ann"], ["coach"], "club", "talk_1")
    assert all(each["evidence"] and each["memory_type"] for each in seen["listed"]["data"]["result_list"])


def test_filters_choose_assistants_groups_sessions_and_times(seen: dict[str, Any]) -> None:
    assert summaries(seen["of coach"]) == summaries(seen["of club"]) == [GARDA]
    assert summaries(seen["of assistant alone"]) == summaries(seen["of session"]) == summaries(seen["of last week"]) == [COMO]
    assert summaries(seen["of bob"]) == ["I have a parrot called Polly."]


def test_time_decay_changes_the_ranking_outside_its_period(seen: dict[str, Any]) -> None:
    assert summaries(seen["searched"])[0] == summaries(seen["not decayed"])[0] == GARDA
    assert summaries(seen["decayed"])[0] == COMO
    first = seen["decayed"]["data"]["result_list"][0]
    assert first["score"] == pytest.approx(0.1 * first["origin_score"] + 0.9 * first["time_score"])
    assert first["time_score"] == 1 > seen["decayed"]["data"]["result_list"][1]["time_score"]
    assert {each["time_score"] for each in seen["not decayed"]["data"]["result_list"]} == {1}


def test_a_session_reports_its_messages_and_events(seen: dict[str, Any]) -> None:
    info = seen["info"]["data"]
    assert (info["status"], info["user_ids"], info["assistant_ids"]) == ("success", ["ann"], ["coach"])
    assert [(each["role"], each["role_id"], each["content"]) for each in info["messages"]] == [
        ("user", "ann", GARDA),
        ("assistant", "coach", "That sounds lovely."),
    ]
    assert [each["memory_info"]["summary"] for each in info["event_memory"]] == [GARDA]


def test_profiles_are_entities_with_keys(seen: dict[str, Any]) -> None:
    assert {"user_profile"} <= {each["memory_type"][0] for each in seen["profiles"]["data"]["result_list"]}
    assert [each["memory_info"]["user"] for each in seen["by key"]["data"]["result_list"]] == ["ann"]
    assert seen["by wrong key"]["data"]["count"] == 0
    assert {"user_profile"} < {each["memory_type"][0] for each in seen["both kinds"]["data"]["result_list"]}


def test_a_profile_takes_corrections_only(seen: dict[str, Any]) -> None:
    assert seen["profile update"]["code"] == seen["trigger"]["code"] == 0
    assert seen["profile after update"]["data"]["result_list"][0]["memory_info"]["home"] == "Bergen"
    assert seen["profile upsert"]["data"]["profile_id"] == seen["by key"]["data"]["result_list"][0]["id"]
    for call, reason in (
        ("profile again", "has the profile"),
        ("new profile", "computes profiles"),
        ("profile delete", "erase"),
        ("profiles delete", "erase"),
    ):
        assert (seen[call]["error"], seen[call]["code"]) == ("InvalidRequestException", 1000003), seen[call]
        assert reason in seen[call]["message"]


def test_events_are_corrected_and_deleted(seen: dict[str, Any]) -> None:
    assert "I went sailing on lake Garda with Theo." in summaries(seen["event after update"])
    assert summaries(seen["event after delete"]) == [COMO]
    assert seen["after delete all"]["data"]["count"] == 0
    assert summaries(seen["bob afterwards"]) == ["I have a parrot called Polly."]


def test_an_added_event_is_a_message(seen: dict[str, Any]) -> None:
    assert summaries(seen["event found"]) == ["I bought a red bicycle."]
    assert summaries(seen["added after update"]) == ["I bought a blue bicycle."]
    assert seen["added after delete"]["data"]["count"] == 0


@pytest.mark.parametrize(
    ("call", "error", "code", "reason"),
    [
        ("no filter", "InvalidFilterException", 1000019, "expected an object"),
        ("unknown filter", "InvalidFilterException", 1000019, "filter.colour"),
        ("structured event", "InvalidRequestException", 1000003, "Varve makes events of messages"),
        ("unknown event", "DataNotFoundException", 1000011, "no memory"),
        ("unknown session", "DataNotFoundException", 1000011, "no session never"),
        ("other collection", "CollectionNotExistException", 1000005, "the schema companion"),
        ("wrong key", "UnauthorizedException", 1000001, "no tenant has this API key"),
        ("signed", "UnauthorizedException", 1000001, "APIKey"),
    ],
)
def test_errors_have_the_codes_of_the_client(seen: dict[str, Any], call: str, error: str, code: int, reason: str) -> None:
    assert (seen[call]["error"], seen[call]["code"]) == (error, code)
    assert reason in seen[call]["message"]


def test_the_asynchronous_client_gives_equal_results(seen: dict[str, Any]) -> None:
    found = seen["asynchronous"]
    assert summaries(found["searched"]) == summaries(found["listed"]) == ["I have a parrot called Polly."]
    assert found["info"]["data"]["session_id"] == "talk_3"
