"""A statement that a fact is over removes the stored line, and sets nothing."""

import pytest

from extraction.drafts import DropCounter
from extraction.offline.facts.profile_facts import believed, patches_of, user_statements
from extraction.offline.turns import turns_of
from memory.keys import entity_key
from memory.records import Memory
from memory.schema import scenario
from tests.extraction.offline.windows import window_of

SCHEMA = scenario("companion")


def lines_after(stored: dict[str, str], *texts: str) -> dict[str, str]:
    """The fields of a profile after its user has said something."""
    window = window_of(*texts)
    turns = turns_of(window.messages, recalled=frozenset(), tally=DropCounter())
    profile = Memory(
        id="p",
        tenant=window.tenant,
        kind="entity",
        type="user_profile",
        content="",
        entity_key=entity_key(window.user),
        properties=dict(stored),
        event_time=window.messages[0].event_time,
    )
    facts, endings = believed(*user_statements(turns, window.user), {"Espoo": 1.0})
    fields = {name: value.splitlines() for name, value in stored.items()}
    for patch in patches_of(facts, endings, turns, window=window, schema=SCHEMA, entities=[profile], tally=DropCounter()):
        lines = fields.setdefault(patch.field, [])
        if patch.search:
            lines.remove(patch.search)
        lines += [patch.replace] if patch.replace else []
    return {name: "\n".join(lines) for name, lines in fields.items() if lines}


@pytest.mark.parametrize(
    ("field", "line", "text"),
    [
        ("home", "Turku", "I no longer live in Turku."),
        ("home", "Turku", "We moved out of Turku in spring."),
        ("home", "Turku", "I lived in Turku until March."),
        ("home", "Turku", "I've moved to a new city."),
        ("home", "Turku", "We moved house last week."),
        ("home", "Turku", "I don't live there anymore."),
        ("home", "Turku", "I never said I live in Turku."),
        ("occupation", "plumber", "I quit my job yesterday."),
        ("occupation", "plumber", "I got laid off."),
        ("occupation", "plumber", "I'm out of work."),
        ("occupation", "plumber", "I'm not a plumber any more."),
        ("occupation", "plumber", "I'm a plumber no more."),
        ("preferences", "likes chess", "I'm tired of chess."),
        ("preferences", "likes chess", "I don't play chess anymore."),
        ("preferences", "dislikes olives", "I no longer mind olives."),
        ("preferences", "vegan", "I stopped being vegan in May."),
        ("preferences", "vegetarian", "I eat meat again."),
        ("preferences", "allergic to kiwis", "Good news, I'm not allergic to kiwi after all!"),
        ("preferences", "doesn't eat gluten", "I can eat gluten again."),
        ("relationships", "girlfriend: Ines", "Ines and I broke up."),
        ("relationships", "girlfriend: Ines", "I'm single again."),
        ("relationships", "cat: Pippin", "We had to put Pippin down."),
        ("relationships", "husband: Otto", "I got divorced in June."),
        ("name", "Ida", "My name is not Ida."),
    ],
)
def test_a_line_that_is_over_is_removed(field: str, line: str, text: str) -> None:
    assert lines_after({field: line}, text) == {}
    assert lines_after({field: f"first line\n{line}"}, text).get(field, "first line") == "first line"


@pytest.mark.parametrize(
    ("field", "line", "text"),
    [
        ("home", "Turku", "I left Turku at nine, by train."),
        ("home", "Turku", "I don't like driving in Turku."),
        ("home", "Turku", "We moved the meeting to Friday."),
        ("home", "Turku", "I moved to Notion from Evernote."),
        ("home", "Turku", "If I no longer live in Turku, the letter comes back."),
        ("home", "Turku", "Do I no longer live in Turku?"),
        ("home", "Turku", "My aunt claims I no longer live in Turku."),
        ("home", "Turku", "She wrote: 'I no longer live in Turku.'"),
        ("home", "Turku", "I no longer work in Espoo."),
        ("occupation", "plumber", "I want to quit my job."),
        ("occupation", "plumber", "I quit smoking."),
        ("occupation", "plumber", "My brother got fired."),
        ("occupation", "plumber", "I'm not just a plumber, I also sing."),
        ("occupation", "plumber", "I retired my old bike."),
        ("preferences", "likes chess", "I'm tired of football."),
        ("preferences", "allergic to kiwis", "I'm not allergic to nuts."),
        ("relationships", "sister: Ines", "Otto and I broke up."),
        ("relationships", "sister: Ines", "I'm single again."),
        ("relationships", "cat: Pippin", "Pippin bit me, my hamster died."),
    ],
)
def test_other_statements_remove_nothing(field: str, line: str, text: str) -> None:
    assert lines_after({field: line}, text)[field].startswith(line)


def test_the_newer_of_opposite_tastes_is_kept() -> None:
    assert lines_after({"preferences": "likes tea\nlikes chess"}, "I hate tea.") == {"preferences": "likes chess\ndislikes tea"}
    assert lines_after({}, "I hate tea.", "Now I like tea.") == {"preferences": "likes tea"}


def test_a_later_statement_sets_the_field_again() -> None:
    assert lines_after({"home": "Turku"}, "I no longer live in Turku.", "I live in Espoo.") == {"home": "Espoo"}
    assert lines_after({"home": "Turku"}, "I live in Espoo.", "I no longer live in Espoo.") == {}


def test_a_pronoun_after_another_topic_ends_nothing() -> None:
    assert lines_after({}, "I hate cheaters.", "You should learn to play chess. I really like it.") == {"preferences": "dislikes cheaters"}
