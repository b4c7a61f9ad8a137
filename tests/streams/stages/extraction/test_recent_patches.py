"""A window gets the entities as the user's earlier windows left them, whether or not the store has those changes."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memory.records import EntityPatch, Extraction, Memory, Message, Window
from memory.schema import parse_schema
from operators.patches.patch import patch_of
from operators.patches.patch_edit import edit, value_of
from runtime.redis.recent_patches import RecentPatch
from streams.stages.extraction.recent_patches import patches_of, with_recent_patches
from tests.made_records import made_extraction, made_window

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def field(name: str, value_type: str) -> dict[str, Any]:
    return {"PropertyName": name, "PropertyValueType": value_type, "Description": "-", "AggregateExpression": {"Op": "PATCH"}}


def key(name: str) -> dict[str, Any]:
    return {"PropertyName": name, "PropertyValueType": "string", "Description": "-", "IsPrimaryKey": True}


SCHEMA = parse_schema(
    {
        "Name": "tests",
        "EventTypes": [{"EventType": "note", "Description": "-", "Properties": []}],
        "EntityTypes": [
            {
                "EntityType": "person",
                "Description": "-",
                "Keys": ["user"],
                "Properties": [key("user"), field("friends", "string"), field("likes", "list<string>"), field("age", "int64")],
            },
            {
                "EntityType": "place",
                "Description": "-",
                "Keys": ["user", "name"],
                "Properties": [key("user"), key("name"), field("notes", "string")],
            },
        ],
    }
)


def patch(
    search: str, replace: str, *, field: str = "friends", entity: tuple[str, str] = ("person", "ann"), number: int = 0
) -> EntityPatch:
    return EntityPatch(
        id=f"p{number}",
        entity_type=entity[0],
        entity_key=entity[1],
        field=field,
        search=search,
        replace=replace,
        event_time=NOON + timedelta(minutes=number),
        message_ids=[f"m{number}"],
    )


def extraction(*patches: EntityPatch) -> Extraction:
    return made_extraction(
        [], NOON, window_id="w", tenant="acme", user="ann", session="s", extractor="llm", schema_name="tests", patches=list(patches)
    )


def person(message_ids: list[str] | None = None, **properties: Any) -> Memory:
    return Memory(
        id="e",
        tenant="acme",
        user="ann",
        kind="entity",
        type="person",
        content="-",
        event_time=NOON,
        entity_key="ann",
        properties={"user": "ann", **properties},
        message_ids=message_ids or [],
    )


def window(text: str = "Hi.") -> Window:
    message = Message(tenant="acme", user="ann", session="s", id="own", text=text, event_time=NOON)
    return made_window([message])


def overlaid(found: list[Memory], patches: tuple[RecentPatch, ...], text: str = "Hi.") -> tuple[Memory, ...]:
    return with_recent_patches(found, patches, window=window(text), schema=SCHEMA, generation="")


def laid(*patches: EntityPatch, shown: list[Memory] | None = None) -> tuple[RecentPatch, ...]:
    return patches_of(extraction(*patches), SCHEMA, shown or [])


def test_the_next_window_sees_pending_patches() -> None:
    shown = [person(friends="Bob: friend\nKim: sister")]
    patches = laid(patch("", "Rex: dog"), patch("Bob: friend", "Bob: former friend", number=1), shown=shown)
    (seen,) = overlaid(shown, patches)
    assert seen.properties == {"user": "ann", "friends": "Bob: former friend\nKim: sister\nRex: dog"}


def test_a_patch_without_effect_is_not_remembered() -> None:
    shown = [person(friends="Bob: friend")]
    assert laid(patch("nobody of that name", "x"), patch("", "Bob: friend"), patch("x", "y", field="unknown"), shown=shown) == ()


def test_an_entity_that_includes_the_window_is_unchanged() -> None:
    patches = laid(patch("", "Bob: friend", number=1), patch("", "Kim: sister", number=2), patch("", "Rex: dog", number=3))
    corrected = person(message_ids=["m2"], friends="Robert: friend")
    (seen,) = overlaid([corrected], patches)
    assert seen.properties["friends"] == "Robert: friend\nRex: dog", "what a person corrected since does not come back"


def test_values_keep_their_types() -> None:
    shown = [person(likes=["tea", "rain"], age=41)]
    patches = laid(patch("tea", "coffee", field="likes"), patch("41", "42", field="age"), shown=shown)
    (seen,) = overlaid(shown, patches)
    assert (seen.properties["likes"], seen.properties["age"]) == (["coffee", "rain"], 42)
    emptied = laid(patch("tea", "", field="likes"), patch("rain", "", field="likes"), shown=shown)
    assert "likes" not in overlaid(shown, emptied)[0].properties


def test_entities_that_do_not_exist_yet_are_shown() -> None:
    patches = laid(
        patch("", "by the sea", field="notes", entity=("place", "ann/Oslo")),
        patch("", "warm", field="notes", entity=("place", "ann/Rome")),
        patch("", "Bob: friend"),
    )
    near = person(friends="x").model_copy(update={"id": "other", "type": "place", "entity_key": "ann/Bern"})
    seen = overlaid([near], patches, text="In Rome it rained.")
    assert [each.entity_key for each in seen] == ["ann/Rome", "ann", "ann/Bern", "ann/Oslo"]
    assert seen[1].properties == {"friends": "Bob: friend"}
    assert overlaid([], laid(patch("", "a"), patch("a", "", number=1))) == (), "nothing is left of it"


def test_remembered_patches_have_their_start_date() -> None:
    shown = [person(friends="Bob: friend\nKim: sister").model_copy(update={"since": {"friends": [date(2024, 5, 1), date(2024, 5, 2)]}})]
    patches = laid(patch("Bob: friend", "Bob: foe"), patch("", "Rex: dog", number=1440), shown=shown)
    (seen,) = overlaid(shown, patches)
    assert str(seen.properties["friends"]).splitlines() == ["Bob: foe", "Kim: sister", "Rex: dog"]
    assert seen.since == {"friends": [date(2024, 5, 6), date(2024, 5, 2), date(2024, 5, 7)]}
    (undated,) = overlaid([person(friends="Kim: sister")], patches)
    assert undated.since is None, "of one line it is not known"


def test_remembered_patches_have_the_users_date() -> None:
    evening = NOON.replace(hour=20).astimezone(timezone(timedelta(hours=12)))
    (seen,) = overlaid([], laid(patch("", "Rex: dog").model_copy(update={"event_time": evening})))
    assert seen.since == {"friends": [date(2024, 5, 7)]}


def test_an_older_session_does_not_replace_newer_facts() -> None:
    shown = [person(friends="Bob: foe").model_copy(update={"since": {"friends": [date(2024, 6, 1)]}})]
    older = patch("Bob: foe", "Bob: friend")
    assert laid(older, shown=shown) == ()
    (seen,) = overlaid(shown, laid(older, shown=[person(friends="Bob: foe")]))
    assert str(seen.properties["friends"]).splitlines()[0] == "Bob: foe", "shown without dates, it stored what the entity does not take"


LINES = st.sampled_from(["ada", "bob", "cy", "dan", "eve", "flo"])
EDITS = st.lists(st.tuples(st.one_of(st.just(""), LINES), st.one_of(st.just(""), LINES)), max_size=8)


@given(start=st.lists(LINES, unique=True, max_size=4), edits=EDITS)
def test_it_shows_the_same_whatever_the_entity_has(start: list[str], edits: list[tuple[str, str]]) -> None:
    text = "\n".join(start)
    states: list[Memory] = [person(friends=text)]
    patches: tuple[RecentPatch, ...] = ()
    for number, (search, replace) in enumerate(each for each in edits if any(each)):
        if replace in text.split("\n"):
            # A line that stands there twice is shown once.
            continue
        shown = overlaid([states[0]], patches)
        patches += laid(patch(search, replace, number=number), shown=list(shown))
        try:
            text = edit(text, patch_of({"search": search, "replace": replace}, time=number, source_id=str(number))).text
        except Exception:
            continue
        states.append(person(friends=value_of(text, "string") or ""))
    views = [set(str(overlaid([state], patches)[0].properties.get("friends", "")).splitlines()) for state in states]
    assert all(view == set(text.split("\n")) - {""} for view in views)
