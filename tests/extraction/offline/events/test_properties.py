import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.drafts import DropCounter
from extraction.offline.events.event_types import has_form
from extraction.offline.events.properties import properties_of, tool_properties
from extraction.offline.events.property_roles import Meaning, meaning_of
from extraction.offline.events.quantities import Quantity, quantities_of
from extraction.offline.events.type_forms import form_of
from extraction.offline.turns import Passage, Turn, passages_of, turns_of
from memory.dates.mentions import resolve_dates
from memory.records import Message, ToolCall
from memory.schema import EventType, Property, coerce_properties


def event_type(name: str = "note", **properties: str) -> EventType:
    """A type whose properties are given as ``name="value_type: description"``."""
    parted = {key: value.partition(": ") for key, value in properties.items()}
    return EventType(
        name=name,
        description="",
        properties=tuple(Property(name=key, value_type=kind, description=description) for key, (kind, _, description) in parted.items()),  # type: ignore[arg-type]
    )


def turns(*texts: tuple[str, str]) -> list[Turn]:
    messages = [
        Message.model_validate(
            {"tenant": "t", "user": "u", "session": "s", "speaker": who, "text": text, "event_time": "2024-09-02T09:00:00Z"}
        )
        for who, text in texts
    ]
    return turns_of(messages, recalled=frozenset(), tally=DropCounter())


def passage(context: list[Turn], index: int, text: str) -> Passage:
    mentions = resolve_dates(text, context[index].message.event_time.date())
    return Passage(turn_index=index, text=text, turn_before=None, mentions=tuple(mentions), is_plain=True)


def properties(text: str, kind: EventType, *, topic: str = "load test, peak") -> dict[str, object]:
    context = turns(("Ruth", "Who takes it?"), ("Pavel", text))
    return dict(properties_of(kind, context, passage(context, 1, text), topic=topic))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5.2 km in 34 minutes", [(5.2, "km", None), (34, "minute", None)]),
        ("a 9 out of 10", [(9, "", 10)]),
        ("Four out of five.", [(4, "", 5)]),
        ("85/100 on it", [(85, "", 100)]),
        ("18,000 euros or $7.50", [(18000, "euro", None), (7.5, "dollar", None)]),
        ("two and a half minutes", [(2.5, "minute", None)]),
        ("12% more", [(12, "percent", None)]),
        ("three pairs", [(3, "pair", None)]),
        ("3pm on sql_2", [(3, "pm", None)]),
        ("no numbers", []),
    ],
)
def test_numbers_keep_their_unit_and_scale(text: str, found: list[tuple[float, str, float | None]]) -> None:
    assert [(each.value, each.unit, each.out_of) for each in quantities_of(text) if each.unit or each.out_of] == found


@given(st.text(max_size=80))
def test_any_text_gives_finite_numbers(text: str) -> None:
    assert all(isinstance(each, Quantity) and abs(each.value) < float("inf") for each in quantities_of(text))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("int64: How long it took, in minutes.", "I ran for 34 minutes", {"it": 34}),
        ("float32: How far it went, in kilometres.", "It was 3 miles", {"it": pytest.approx(4.828032)}),
        ("int64: From 1 (very bad) to 10 (very good).", "a 9 out of 10 today", {"it": 9}),
        ("int64: From 1 to 5.", "a 9 out of 10 today", {}),
        ("float32: What one costs.", "34 minutes", {}),
    ],
)
def test_a_number_needs_a_fitting_unit_or_scale(kind: str, text: str, value: dict[str, object]) -> None:
    assert properties(text, event_type(it=kind)) == value


def test_units_are_converted_into_the_propertys_unit() -> None:
    assert properties("about an hour, not more", event_type(minutes="int64"))["minutes"] == 60
    assert properties("an hour, or 1.5 hours", event_type(minutes="int64")) == {}
    assert properties("it takes 2 weeks", event_type(estimate_days="float32"))["estimate_days"] == 14
    assert properties("it cost 18,000 euros", event_type(price="float32"))["price"] == 18000
    assert properties("we have 12 cats", event_type(price="float32", minutes="int64")) == {}


def test_text_properties_are_filled_by_their_meaning() -> None:
    kind = event_type(
        "action_item",
        topic="string: The topic.",
        task="string: What is to be done.",
        owner="string: Who does it, by name.",
        due="string: As YYYY-MM-DD.",
        kind="string: Such work, such as testing or writing.",
        unknown="string: Nothing that a rule knows.",
    )

    assert properties("Fine. I will finish the testing of the refund endpoint by Friday.", kind) == {
        "topic": "load test",
        "task": "I will finish the testing of the refund endpoint by Friday.",
        "owner": "Pavel",
        "due": "2024-09-06",
        "kind": "testing",
    }


def test_a_statement_is_the_main_sentence_as_written() -> None:
    text = "Yesterday I slept. Tomorrow I will finish the whole testing of the refund endpoint. Then on Friday I rest."

    assert properties(text, event_type(task="string"))["task"] == "Tomorrow I will finish the whole testing of the refund endpoint."


def test_a_named_person_is_the_owner() -> None:
    assert properties("Ruth takes the scripts.", event_type(owner="string"))["owner"] == "Ruth"
    assert properties("Somebody takes the scripts.", event_type(owner="string")) == {}


@pytest.mark.parametrize(
    ("text", "likes"),
    [
        ("I love khachapuri", True),
        ("I can't stand mushrooms", False),
        ("I'm no fan of winter.", False),
        ("I don't really enjoy parties.", False),
        ("I can't say I love opera.", None),
        ("I love tea but hate coffee.", None),
        ("She never really loved it.", None),
        ("It is a mushroom", None),
    ],
)
def test_liking_is_recognized_by_its_words(text: str, likes: bool | None) -> None:
    assert properties(text, event_type(likes="bool")).get("likes") is likes


def test_a_tool_call_fills_only_its_own_fields() -> None:
    kind = event_type(
        tool_name="string",
        success="bool",
        failure="int64",
        failed="bool",
        duration_s="float32",
        error="string",
        args="string",
        note="string",
    )
    call = ToolCall(name="web", arguments={"q": 1}, success=True, duration_ms=1500)

    assert tool_properties(kind, call, goal=None) == {
        "tool_name": "web",
        "success": True,
        "failure": 0,
        "failed": False,
        "duration_s": 1.5,
        "args": '{"q":1}',
    }
    assert tool_properties(kind, ToolCall(name="web"), goal=None) == {"tool_name": "web"}


def test_names_are_read_in_any_case() -> None:
    assert meaning_of("toolName") is meaning_of("tool_name") is meaning_of("Tool-Name") is Meaning.TOOL
    assert meaning_of("xyz") is None


@given(st.text(max_size=200))
def test_properties_of_any_text_keep_their_types(text: str) -> None:
    kind = event_type(
        minutes="int64",
        price="float32",
        likes="bool",
        what="string",
        people="list<string>",
        keywords="list<string>",
        when="string",
        place="string",
    )
    context = turns(("Ruth", text or "x"))
    if context:
        assert coerce_properties(kind, properties_of(kind, context, passage(context, 0, context[0].text), topic="a, b")).dropped == ()


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("Nate won again.", "Nate"),
        ("Way to go, Nate! It must feel great.", None),
        ("Hey Nate! Been having some tough times.", None),
        ("Happy for you, Nate", None),
        ("Nate's team lost.", "Nate"),
        ("I'm happy, Nate.", "Joanna"),
        ("My sister loves tea.", None),
        ("My sister and I love tea.", "Joanna"),
        ("My knee hurts.", "Joanna"),
    ],
)
def test_who_is_addressed_is_not_the_person(text: str, person: str | None) -> None:
    context = turns(("Nate", "I won."), ("Joanna", text))

    values = properties_of(event_type(person="string: Whose it is."), context, passage(context, 1, text), topic="")

    assert values.get("person") == person


@pytest.mark.parametrize(
    ("text", "feeling"),
    [
        ("I am so lonely here", "lonely"),
        ("I am not lonely", None),
        ("I am sad to hear that you are lonely", None),
        ("You know I am proud", "proud"),
        ("Nothing I am proud of", None),
        ("It is not much but I am proud", "proud"),
    ],
)
def test_a_denied_or_foreign_feeling_is_no_property(text: str, feeling: str | None) -> None:
    kind = event_type("mood", feeling="string: The feeling, such as anxious, proud, lonely.")

    assert properties(text, kind).get("feeling") == feeling


@pytest.mark.parametrize(("question", "is_mood"), [("How are you?", True), ("Shall I make the heading bold?", False)])
def test_a_lone_judgement_is_a_mood_only_if_asked(question: str, is_mood: bool) -> None:
    form = form_of("mood")
    assert form is not None

    assert has_form(passages_of(turns(("Ruth", question), ("Pavel", "Terrible, but we go on.")), 1)[0], form) is is_mood
