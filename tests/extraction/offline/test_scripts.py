"""Messages in scripts other than Latin are extracted too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.offline.events.keywords import KeywordRanker
from extraction.offline.extractor import OfflineExtractor
from extraction.offline.grammar.content_words import is_filler, topic_words
from extraction.offline.grammar.sentences import asks, ends_in_question, pieces_of, questions_of, sentences_of
from extraction.port import ExtractionContext
from memory.schema import scenario
from memory.texts.scripts import RUN_WITHOUT_SPACES
from tests.extraction.embedders import CountingEmbedder
from tests.extraction.offline.windows import window_of


@pytest.mark.parametrize(
    "text",
    [
        "我对花生过敏。",
        "我昨天搬到了奥斯陆。",
        "昨日オスロに引っ越しました。",
        "ねこがすきです。",
        "나는 땅콩 알레르기가 있어요.",
        "ฉันแพ้ถั่วลิสง",
        "أعاني من حساسية الفول السوداني.",
        "У меня аллергия на арахис.",
        "Έχω αλλεργία στα φιστίκια.",
    ],
)
async def test_any_script_gives_events_with_short_keywords(text: str) -> None:
    extraction = await OfflineExtractor(embedder=CountingEmbedder()).extract(window_of(text), scenario("companion"), ExtractionContext())

    assert [(event.content, event.search_text) for event in extraction.events] == [(text, f"The user (8 May 2023): {text}")]
    keywords = extraction.events[0].keywords
    assert keywords
    assert all(1 < len(word) <= 12 and word in text.lower() for keyword in keywords for word in keyword.split())


@pytest.mark.parametrize(
    "text", ["你好！", "谢谢你。", "好的，谢谢！", "こんにちは。", "ありがとうございます！", "はい。", "สวัสดีครับ", "안녕하세요!"]
)
def test_greetings_and_thanks_are_fillers_in_any_script(text: str) -> None:
    assert is_filler(text)


def test_full_width_marks_end_sentences() -> None:
    assert sentences_of("我搬家了。你呢？太好了！！再见") == ["我搬家了。", "你呢？", "太好了！！", "再见"]
    assert sentences_of("「行く。」と言った。はい。") == ["「行く。」と言った。", "はい。"]
    assert sentences_of("هل انتقلت؟ نعم.") == ["هل انتقلت؟", "نعم."]
    assert pieces_of("我搬家了。你呢？", tokens=100) == ["我搬家了。你呢？"]


def test_questions_are_known_by_the_marks_of_their_script() -> None:
    assert questions_of("我搬家了。你呢？") == ["你呢？"]
    assert questions_of("هل انتقلت؟ نعم.") == ["هل انتقلت؟"]
    assert asks("你呢？我搬家了。")
    assert ends_in_question("هل انتقلت؟")


def test_topic_words_exclude_particles() -> None:
    assert topic_words("我对花生过敏") == ["花生过敏"]
    assert "奥斯陆" in topic_words("我昨天搬到了奥斯陆")
    assert topic_words("昨日オスロに引っ越しました") == ["オスロ"]
    assert topic_words("佐々木さんは釣りをします")[0] == "佐々木"
    assert topic_words("मुझे मूंगफली से एलर्जी है") == ["मुझे", "मूंगफली", "से", "एलर्जी", "है"]
    assert "weather" in KeywordRanker(["奥斯陆的weather"]).keywords("奥斯陆的weather", limit=6)


@given(st.text(alphabet="我的花生敏カタねことหมฉันก็ กab。，", max_size=200))
def test_topic_words_are_short_parts_of_the_text(text: str) -> None:
    assert all(word in text and (len(word) <= 8 or not RUN_WITHOUT_SPACES.match(word)) for word in topic_words(text))
