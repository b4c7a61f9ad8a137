"""A value that holds no longer, or that a doubtful move replaced, is unset: an empty field is better than a stale one."""

import pytest

from extraction.drafts import DropCounter
from extraction.offline.facts.profile_facts import believed, patches_of, user_statements
from extraction.offline.facts.profile_lines import edits_of
from extraction.offline.turns import turns_of
from memory.keys import entity_key
from memory.records import Memory, Window
from memory.schema import EntityProperty, scenario
from tests.extraction.offline.windows import window_of

PLACES = {"Oslo": 0.3, "Bergen": 0.3, "Zapp": -0.06}


def profile(**properties: str) -> Memory:
    return Memory.from_fields(
        {
            "id": "0f0e0d0c-0000-4000-8000-00000000000a", "tenant": "acme", "user": "mara", "kind": "entity", "type": "user_profile",
            "entity_key": entity_key("mara"), "content": "profile", "event_time": "2023-01-01T00:00:00Z", "properties": properties,
        }
    )  # fmt: skip


def patched(window: Window, *known: Memory) -> list[tuple[str, str, str]]:
    tally = DropCounter()
    turns = turns_of(window.messages, recalled=frozenset(), tally=tally)
    facts, endings = believed(*user_statements(turns, "mara"), PLACES)
    patches = patches_of(facts, endings, turns, window=window, schema=scenario("companion"), entities=known, tally=tally)
    return [(each.field, each.search, each.replace) for each in patches]


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Zapp last week.",
        "I don't live in Oslo any more.",
        "I no longer live in Oslo.",
        "We moved away from Oslo.",
        "I left Oslo for good.",
    ],
)
def test_a_doubtful_or_former_home_is_unset(text: str) -> None:
    assert patched(window_of(text), profile(home="Oslo")) == [("home", "Oslo", "")]


@pytest.mark.parametrize(
    "text", ["I moved to Notion last week.", "I moved to Zapp with all my tasks.", "I don't live in Kiel any more.", "I left Kiel."]
)
def test_tools_and_other_places_do_not_change_home(text: str) -> None:
    assert patched(window_of(text), profile(home="Oslo")) == []


def test_a_doubtful_move_unsets_a_home_just_stated() -> None:
    assert patched(window_of("I live in Oslo.", "I moved to Zapp last week.")) == [("home", "", "Oslo"), ("home", "Oslo", "")]


def test_a_home_after_the_former_one_is_stored() -> None:
    assert patched(window_of("I don't live in Oslo any more, I live in Bergen."), profile(home="Oslo")) == [
        ("home", "Oslo", ""),
        ("home", "", "Bergen"),
    ]


def test_a_diet_that_is_over_loses_its_line() -> None:
    known = profile(preferences="likes tea\nvegan")
    assert patched(window_of("I'm not vegan any more."), known) == [("preferences", "vegan", "")]


@pytest.mark.parametrize("text", ["Everyone calls me Momo.", "My nickname is Momo.", "At the gym they all call me Momo."])
def test_what_others_call_the_user_replaces_no_name(text: str) -> None:
    assert patched(window_of(text), profile(name="Mara")) == []


def test_what_others_call_the_user_fills_an_empty_name() -> None:
    assert patched(window_of("Everyone calls me Momo.")) == [("name", "", "Momo")]
    assert patched(window_of("Everyone calls me Momo.", "My name is Mara.")) == [("name", "", "Momo"), ("name", "Momo", "Mara")]


@pytest.mark.parametrize(
    "text",
    [
        "Everyone at the rink calls me Turbo.",
        "Everyone calls me Turbo at the rink.",
        "At the rink they all call me Turbo.",
        "The guys on the team call me Turbo.",
        "Folks call me Turbo on the ice.",
        "They know me as Turbo at the depot.",
        "My nickname is Turbo.",
    ],
)
def test_a_nickname_is_no_name(text: str) -> None:
    assert patched(window_of(text)) == []
    assert patched(window_of(text, "I'm called Ola.")) == [("name", "", "Ola")]


@pytest.mark.parametrize("text", ["My nickname is Turbo.", "Everyone at the rink calls me Turbo.", "Folks call me Turbo on the ice."])
def test_a_field_for_nicknames_takes_them(text: str) -> None:
    facts, _ = user_statements(turns_of(window_of(text).messages, recalled=frozenset(), tally=DropCounter()), "mara")
    field = EntityProperty(name="nickname", value_type="string")
    assert [each.replace for each in edits_of(field, [], facts, [])] == ["Turbo"]


def test_a_nickname_is_kept_with_the_full_name() -> None:
    assert patched(window_of("My name is Mara, but everyone calls me Momo.")) == [("name", "", "Mara"), ("name", "Mara", "Momo")]
    assert patched(window_of("Please call me Momo."), profile(name="Mara")) == [("name", "Mara", "Momo")]


@pytest.mark.parametrize(
    "text",
    [
        "Half a year ago I moved to Bergen.",
        "Two and a half years ago, we moved to Bergen.",
        "I've been living in Bergen for half a year.",
        "I've been living for half a year in Bergen.",
        "For the past half year I've been living in Bergen.",
        "We moved to Bergen roughly two years ago.",
        "I moved to Bergen half a year ago.",
        "I've lived in Bergen two years now.",
        "Five years ago I moved to Oslo, and last year to Bergen.",
    ],
)
def test_a_length_of_time_leaves_the_home(text: str) -> None:
    assert patched(window_of(text)) == [("home", "", "Bergen")]


def test_a_home_of_earlier_years_is_none() -> None:
    assert patched(window_of("Half a year ago I lived in Bergen.")) == []
