"""A session with VikingDB's own client, run in an environment that has the package. Prints one JSON object: the result of each call.

Usage: ``python client_session.py HOST API_KEY``. The host has no scheme.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from vikingdb import IAM, APIKey
from vikingdb.memory import VikingMem

from tests.waiting import until

DAY_MS = 86_400_000


def failure(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"error": None, "result": call()}
    except Exception as error:
        return {"error": type(error).__name__, "code": getattr(error, "code", None), "message": str(error)}


def session(host: str, key: str) -> dict[str, Any]:
    client = VikingMem(host=host, auth=APIKey(api_key=key), scheme="http")
    collection = client.get_collection(collection_name="companion")
    seen: dict[str, Any] = {}
    now = int(time.time() * 1000)
    seen["added"] = collection.add_session(
        session_id="talk_1",
        messages=[
            {"role": "user", "content": "I went sailing on lake Garda with Tom.", "time": now - 400 * DAY_MS},
            {"role": "assistant", "content": "That sounds lovely.", "time": now - 400 * DAY_MS + 1000},
        ],
        metadata={
            "default_user_id": "ann",
            "default_user_name": "Ann",
            "default_assistant_id": "coach",
            "group_id": "club",
            "time": now - 400 * DAY_MS,
        },
    )
    collection.add_session(
        session_id="talk_2",
        messages=[{"role": "user", "content": "I went sailing on lake Como with Eve.", "time": now - 2 * DAY_MS}],
        metadata={"default_user_id": "ann", "default_user_name": "Ann", "default_assistant_id": "guide"},
    )
    collection.add_session(
        session_id="talk_3",
        messages=[{"role": "user", "content": "I have a parrot called Polly.", "role_id": "bob", "role_name": "Bob"}],
        metadata={"default_user_id": "ann", "default_assistant_id": "coach", "time": now},
    )
    ann: dict[str, Any] = {"user_id": "ann", "memory_type": ["sys_event_v1"]}

    def events(**filters: Any) -> Any:
        return collection.search_event_memory(filter={**ann, **filters})

    seen["listed"] = until(events, lambda found: found["data"]["count"] >= 2)
    seen["of bob"] = until(lambda: events(user_id="bob"), lambda found: found["data"]["count"] >= 1)
    seen["of coach"] = events(assistant_id="coach")
    seen["of club"] = events(group_id=["club", "other"])
    seen["of assistant alone"] = collection.search_event_memory(filter={"assistant_id": "guide"})
    seen["of session"] = events(session_id="talk_2")
    seen["of last week"] = events(start_time=now - 7 * DAY_MS, end_time=now)
    query = "Who was sailing on lake Garda?"
    seen["searched"] = collection.search_event_memory(query=query, filter=ann)
    seen["decayed"] = collection.search_event_memory(query=query, filter=ann, time_decay_config={"weight": 0.9, "no_decay_period": 7})
    seen["not decayed"] = collection.search_event_memory(query=query, filter=ann, time_decay_config={"weight": 0.9, "no_decay_period": 500})
    seen["info"] = until(lambda: collection.get_session_info("talk_1"), lambda found: found["data"]["status"] == "success")
    seen["profiles"] = until(
        lambda: collection.search_profile_memory(filter={"user_id": "ann", "memory_type": "sys_profile_v1"}),
        lambda found: found["data"]["count"] >= 1,
    )
    seen["by key"] = collection.search_profile_memory(filter={"user_id": "ann", "memory_type": "user_profile", "primary_key": "user=ann"})
    seen["by wrong key"] = collection.search_profile_memory(filter={"user_id": "ann", "primary_key": "user=bob"})
    seen["both kinds"] = collection.search_memory(
        query="Who is Ann?", filter={"user_id": "ann", "memory_type": ["sys_event_v1", "user_profile"]}, limit=20
    )
    profile_id = seen["by key"]["data"]["result_list"][0]["id"]
    seen["profile update"] = collection.update_profile(profile_id, {"home": "Bergen"})
    seen["profile after update"] = until(
        lambda: collection.search_profile_memory(query="Where does Ann live?", filter={"user_id": "ann", "memory_type": "user_profile"}),
        lambda found: any(each["memory_info"].get("home") == "Bergen" for each in found["data"]["result_list"]),
    )
    seen["profile upsert"] = collection.add_profile("user_profile", {"home": "Oslo"}, user_id="ann", is_upsert=True)
    seen["profile again"] = failure(lambda: collection.add_profile("user_profile", {"home": "Oslo"}, user_id="ann"))
    seen["new profile"] = failure(lambda: collection.add_profile("user_profile", {"home": "Oslo"}, user_id="nobody", is_upsert=True))
    seen["profile delete"] = failure(lambda: collection.delete_profile(profile_id))
    seen["profiles delete"] = failure(lambda: collection.batch_delete_profile(filter={"user_id": "ann"}))
    seen["trigger"] = collection.trigger_update_profile(update_profile_type=["sys_profile_v1"], filters={"user_id": "ann"})

    event_id = seen["searched"]["data"]["result_list"][0]["id"]
    seen["event update"] = collection.update_event(event_id, {"summary": "I went sailing on lake Garda with Theo."})
    seen["event after update"] = until(events, lambda found: "Theo" in json.dumps(found))
    added = collection.add_event("sys_event_v1", {"summary": "I bought a red bicycle."}, user_id="cy", assistant_id="coach")
    seen["event added"] = added
    of_cy = {"user_id": "cy", "assistant_id": "coach", "memory_type": "sys_event_v1"}
    seen["event found"] = until(lambda: collection.search_event_memory(filter=of_cy), lambda found: found["data"]["count"] >= 1)
    seen["added update"] = collection.update_event(added["data"]["event_id"], {"summary": "I bought a blue bicycle."})
    seen["added after update"] = until(lambda: collection.search_event_memory(filter=of_cy), lambda found: "blue" in json.dumps(found))
    seen["added delete"] = collection.delete_event(added["data"]["event_id"])
    seen["added after delete"] = until(lambda: collection.search_event_memory(filter=of_cy), lambda found: found["data"]["count"] == 0)
    seen["event delete"] = collection.delete_event(event_id)
    seen["event after delete"] = until(events, lambda found: event_id not in [each["id"] for each in found["data"]["result_list"]])
    seen["delete all of guide"] = collection.batch_delete_event(filter={"user_id": "ann", "assistant_id": "guide"}, delete_type="full")
    seen["after delete all"] = until(lambda: events(assistant_id="guide"), lambda found: found["data"]["count"] == 0)
    seen["bob afterwards"] = events(user_id="bob")

    seen["no filter"] = failure(collection.batch_delete_event)
    seen["unknown filter"] = failure(lambda: collection.search_event_memory(filter={"user_id": "ann", "colour": "red"}))
    seen["structured event"] = failure(lambda: collection.add_event("mood", {"score": 7}, user_id="ann"))
    seen["unknown event"] = failure(lambda: collection.delete_event("00000000-0000-0000-0000-000000000000"))
    seen["unknown session"] = failure(lambda: collection.get_session_info("never"))
    seen["other collection"] = failure(lambda: client.get_collection("meetings").search_memory(filter=ann))
    stranger = VikingMem(host=host, auth=APIKey(api_key="no-key"), scheme="http").get_collection("companion")
    seen["wrong key"] = failure(lambda: stranger.search_memory(filter=ann))
    signed = VikingMem(host=host, auth=IAM(ak="a", sk="b"), scheme="http").get_collection("companion")
    seen["signed"] = failure(lambda: signed.search_memory(filter=ann))
    seen["asynchronous"] = asyncio.run(asynchronous(collection))
    return seen


async def asynchronous(collection: Any) -> dict[str, Any]:
    of_bob = {"user_id": "bob", "memory_type": "sys_event_v1"}
    return {
        "searched": await collection.async_search_event_memory(query="Which animal?", filter=of_bob),
        "listed": await collection.async_search_memory(filter=of_bob),
        "info": await collection.async_get_session_info("talk_3"),
    }


if __name__ == "__main__":
    print(json.dumps(session(*sys.argv[1:])))
