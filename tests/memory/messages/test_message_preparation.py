"""Windows hold messages in the user's time zone and without their source's markup; the record in the log stays as it is."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memory.errors import MalformedRecordError
from memory.messages.markup import without_markup
from memory.messages.message_preparation import MessageSettings, prepared, read_message
from memory.records import Message
from memory.times import in_zone
from tests.growth import LINEAR, growth

FIELDS: dict[str, Any] = {"tenant": "acme", "user": "ann", "session": "s1", "id": "m1", "text": "Hi", "event_time": "2024-05-12T21:30:00Z"}
NO_SETTINGS = MessageSettings()


def shown(settings: MessageSettings = NO_SETTINGS, **fields: Any) -> Message:
    raw = orjson.dumps({**FIELDS, **fields})
    message, bytes_shown = prepared(raw, read_message(raw), settings, identity="given")
    assert Message.from_json(bytes_shown) == message
    return message


def test_an_unchanged_message_keeps_its_bytes() -> None:
    raw = orjson.dumps({**FIELDS, "mood": "good"})
    assert prepared(raw, read_message(raw), NO_SETTINGS, identity="given")[1] is raw


def test_a_message_without_an_id_gets_the_given_one() -> None:
    assert shown(id=None).id == "given"


@pytest.mark.parametrize(
    ("settings", "fields", "local"),
    [
        (NO_SETTINGS, {"time_zone": "Australia/Brisbane"}, "2024-05-13T07:30:00+10:00"),
        (MessageSettings(time_zone="Europe/Oslo"), {}, "2024-05-12T23:30:00+02:00"),
        (MessageSettings(time_zone="Europe/Oslo"), {"event_time": "2024-01-12T23:30:00Z"}, "2024-01-13T00:30:00+01:00"),
        (MessageSettings(time_zone="Europe/Oslo"), {"time_zone": "America/New_York"}, "2024-05-12T17:30:00-04:00"),
        (NO_SETTINGS, {"event_time": "2024-05-13T07:30:00+10:00"}, "2024-05-13T07:30:00+10:00"),
    ],
)
def test_times_are_in_the_users_zone(settings: MessageSettings, fields: dict[str, Any], local: str) -> None:
    assert shown(settings, **fields).event_time.isoformat() == local


@given(
    st.datetimes(datetime(1971, 1, 2), datetime(2100, 1, 1), timezones=st.just(UTC)),
    st.sampled_from(["UTC", "Asia/Kathmandu", "America/St_Johns"]),
)
def test_a_zone_changes_no_moment(time: datetime, zone: str) -> None:
    assert in_zone(time, zone) == time


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "+02:00", "Europe/Oslo\0"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(MalformedRecordError, match=r"time_zone: .*IANA name"):
        shown(time_zone=zone)
    with pytest.raises(ValidationError):
        MessageSettings(time_zone=zone)


def test_markup_is_removed_only_on_the_tenants_request() -> None:
    text = "<p>I&#39;m allergic to <b>walnuts</b>.</p>"
    assert shown(text=text).text == text
    assert shown(MessageSettings(unescape=("html",)), text=text).text == "I'm allergic to walnuts."


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            '<div><p>I live in <b>Oslo</b> &amp; work at <a href="https://acme.example">Acme</a>.</p><p>Bye</p></div>',
            "I live in Oslo & work at Acme.\nBye",
        ),
        ("a<b and c>d", "a<b and c>d"),
        ("I &lt;3 you", "I <3 you"),
        ("&amp;lt;", "&lt;"),
        ("?a=1&copy=2", "?a=1&copy=2"),
        ("List<String> and vector<int>", "List<String> and vector<int>"),
        ("<pre><code>if (a &lt; b) {\n\n}</code></pre>", "```\nif (a < b) {\n\n}\n```"),
        ("Use `&lt;br&gt;` or <code>a&amp;b</code>", "Use `&lt;br&gt;` or `a&b`"),
        ("<blockquote>I live in Rome</blockquote>Really?", "> I live in Rome\nReally?"),
        ("<style>p {}</style>Hi", "Hi"),
        ("I like <style> tags", "I like <style> tags"),
        ('<img src="data:image/png;base64,AAAA" alt="a plant">', "[image a plant]"),
    ],
)
def test_html_becomes_text(text: str, plain: str) -> None:
    assert without_markup(text, ["html"]) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<@U02ABCDEF> see <https://docs.example.com/d/1|the sheet> <!here>", "@U02ABCDEF see the sheet @here"),
        ("<@U02ABCDEF|ann> in <#C1|general>, <!subteam^S1|@team>", "@ann in #general, @team"),
        ("<mailto:ann@example.com|ann@example.com> &lt;- new", "ann@example.com <- new"),
        ("<https://example.com>", "https://example.com"),
        ("`a &lt; b &amp;&amp; c`", "`a < b && c`"),
        ("I&#39;m <b>here</b>", "I&#39;m <b>here</b>"),
    ],
)
def test_slack_becomes_text(text: str, plain: str) -> None:
    assert without_markup(text, ["slack"]) == plain


@given(st.text(st.sampled_from("<>/&;#@!|`abp \n\"'=-"), max_size=300))
def test_any_text_survives_every_markup(text: str) -> None:
    shown_text = without_markup(text, ["html", "slack"])
    assert len(shown_text) <= 20 * len(text) + 20
    assert without_markup(text, []) == text


@pytest.mark.parametrize("unit", ["<td>x", "<b>xyz", "<p>a", '<img alt="a">', "<blockquote>", "<pre>\n", "<code>", "<"])
def test_markup_is_removed_in_linear_time(unit: str) -> None:
    def build(size: int) -> str:
        return unit * (size // len(unit))

    assert growth(lambda text: without_markup(text, ("html", "slack")), build, size=100_000) < LINEAR
