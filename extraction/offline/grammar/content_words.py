"""The words of a text that carry a meaning of their own, and the texts that have none: greetings, thanks, fillers."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from extraction.offline.grammar.sentences import sentences_of
from memory.texts.prefiltered_patterns import compiled
from memory.texts.scripts import INSIDE_WORD, RUN_WITHOUT_SPACES, SCRIPTS_WITHOUT_SPACES
from memory.texts.words import CHINESE_FUNCTION_CHARACTERS, TOPICLESS_WORDS

_GREETINGS: Final = """
你好 您好 大家好 谢谢 謝謝 谢谢你 謝謝你 谢谢您 謝謝您 多谢 多謝 不客气 不客氣 再见 再見 拜拜 晚安 早安 早上好 晚上好 好的 是的 对的 對的
没事 沒事 没关系 沒關係 嗯 哈哈 哈 对不起 對不起 不好意思 当然 當然 明白 知道 太好 真的 好
こんにちは こんばんは おはよう おはようございます おやすみ おやすみなさい ありがとう ありがとうございます どうも すみません ごめん
ごめんなさい さようなら また はい いいえ うん そうです そうですか そうか わかりました 了解 了解です よろしくお願いします お願いします
なるほど
สวัสดี ขอบคุณ ครับ ค่ะ คะ โอเค
"""
_FILLER_RUN: Final = re.compile(f"(?:{'|'.join(sorted(_GREETINGS.split(), key=len, reverse=True))})+[了啊呀吗嗎呢吧哦啦ねよなー]*")

_TIME: Final = "昨天|今天|明天|昨日|今日|明日"
_CHINESE_BREAK: Final = re.compile(rf"{_TIME}|[{CHINESE_FUNCTION_CHARACTERS}]")
_JAPANESE_BREAK: Final = re.compile(rf"{_TIME}|[\u3040-\u309f]+")
_PARTICLE: Final = re.compile(r"[はがをにでとものへ]")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
_CHINESE: Final = r"\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SAME_SCRIPT: Final = re.compile(rf"[\u30a0-\u30ff]+|[\u3040-\u309f]+|[{_CHINESE}]+|[^\u3040-\u30ff{_CHINESE}]+")
_IS_CHINESE: Final = re.compile(f"[{_CHINESE}]")
_SYLLABLES: Final = re.compile(r".{4,8}(?![\u0e30-\u0e3a\u0e45\u0e47-\u0e4e])|.{1,8}")
"""At most eight characters, none cut off from the Thai vowels and tones that belong to it."""
_LONGEST_CHINESE: Final = 6


def pairs_of(run: str) -> list[str]:
    """The overlapping pairs of a run's characters; none of a greeting or a filler."""
    if _FILLER_RUN.fullmatch(run):
        return []
    return [run[start : start + 2] for start in range(max(1, len(run) - 1))]


def short_runs_of(run: str) -> list[str]:
    """The parts of a run between characters that only join, each of two to eight characters; pairs where that leaves none."""
    if _FILLER_RUN.fullmatch(run):
        return []
    breaks = _JAPANESE_BREAK if _KANA.search(run) else _CHINESE_BREAK
    found = _parts(breaks.split(run)) or _parts(_PARTICLE.split(run))
    return found or pairs_of(run)


def _parts(stretches: list[str]) -> list[str]:
    return [
        part for stretch in stretches for same in _SAME_SCRIPT.findall(stretch) for part in _bounded(same) if len(part) > 1
    ]  # fmt: skip


def _bounded(part: str) -> list[str]:
    if _IS_CHINESE.match(part):
        return [part] if len(part) <= _LONGEST_CHINESE else pairs_of(part)
    return _SYLLABLES.findall(part)


_LETTER: Final = rf"[^\W_{SCRIPTS_WITHOUT_SPACES}]"
_WORD: Final = re.compile(rf"[{SCRIPTS_WITHOUT_SPACES}]+|\d+(?:[.,]\d+)*|{_LETTER}+(?:(?:[{INSIDE_WORD}]+|['’](?={_LETTER})){_LETTER}*)*")
_FILLER_WORDS: Final = """
hey hi hello hiya bye goodbye ok okay yeah yep yup yes nope nah wow oh ah aw aww ha haha hahaha lol omg hmm um uh wonderful great good
nice cool awesome amazing super lovely sweet perfect fantastic excellent sounds sure absolutely definitely totally exactly indeed
agreed right true thanks thank thx cheers welcome please sorry congrats congratulations see talk later soon care take glad happy hear
morning afternoon evening night day today tonight luck well really going doing long time enjoy fun keep got gotcha understood alright
course problem worries anytime back catch chat know mean guess think wait stay safe posted appreciate means forward hearing yay ooh
phew hugs xoxo bro
"""
_SIGNED_WORD: Final = compiled(r"(?<!\w)[A-Za-z](?:\+\+|#)")
"""C++, C#, F#: one letter with a sign."""
_GREETING: Final = compiled(
    r"\W*(?:hi|hey|hello|hiya|howdy|yo|thanks|thank you|bye|goodbye|good (?:morning|afternoon|evening|night)|welcome"
    r"|sorry|wow|congrats)\b,?(?: (?-i:[A-Z]\w+))?\W*",
    re.IGNORECASE,
)
_ABOUT_OTHERS: Final = compiled(r"\W*(?:s?he|they)\b", re.IGNORECASE)
_REACTION: Final = compiled(
    r"\W*(?:(?:wow|oh|ah|aw+|yeah|yes|yep|ok|okay|hey|haha|no|thanks|thank you|absolutely|totally|definitely|cool|nice"
    r"|awesome|great|\w+)[,!. ]+)?"
    r"(?:that|this|those|these|what|how|sounds?|looks?|so|such|you|you['’]\w+|your|have|enjoy|keep|good|great|glad"
    r"|happy|hope|hopefully|congrats|way)\b",
    re.IGNORECASE,
)
_FIRST_PERSON: Final = compiled(r"\b(?:I|I['’]\w+|[Mm]y|[Mm]e|[Ww]e|[Oo]ur)\b|(?<!\S)i(?:['’]?m)?\s")
_PERSONAL: Final = compiled(
    r"\W*(?:(?:and|but|so|yes|no|yeah|well)\W+)*(?:(?:i|we)\s+(?:had|have|like|love|hate|miss|need|want|met|went)\s+"
    r"(?!(?:it|that|this|to|you|your|the|no|one|a (?:good|great|nice|lovely))\b)\w|i['’]?m (?:nobody\b|alone\b"
    r"|not (?!sure|going|kidding)\w))",
    re.IGNORECASE,
)
"""Says something of the writer although all its words are everyday: "We had fun in Nice", "I'm not myself"."""
_INTRODUCTION: Final = compiled(r"\b(?:[Tt]his is|[Ii]t['’]?s) [A-Z]\w+\W*$")
_FILLERS: Final = frozenset(_FILLER_WORDS.split())
_COURTESY_WORDS: Final = """
weekend everyone everybody folks guys friend yo sup howdy greetings dear birthday hmm mhm uh huh ya yum yay cya compliment compliments
encouragement encouraging encourage support supporting friendship recommendation recommendations suggestion suggestions sharing share
chatting catching inspiring inspired inspires helped wishes regards
안녕하세요 안녕 감사합니다 고마워요 고마워 네 아니요
hola gracias adiós buenos días bonjour merci salut bonsoir ciao grazie buongiorno hallo danke bitte tschüss moin hej tack tak takk cześć
dziękuję привет спасибо здравствуйте пока merhaba teşekkürler obrigado obrigada olá bom dia dank
"""
_DIGITS: Final = frozenset("0123456789")
_COURTESIES: Final = frozenset(_COURTESY_WORDS.split())
"""Words of greetings and thanks that are topics elsewhere: no filler alone, but a sentence of nothing else is one."""


def content_words(text: str) -> list[str]:
    """The words that carry a meaning of their own, in lower case: no stop words, greetings or fillers.

    Scripts without spaces give the pairs of their characters: as many as there are characters but one.
    """
    return list(_words(text, pairs_of))


def topic_words(text: str) -> list[str]:
    """The words that may name a text's topic: the content words, short runs of characters in scripts without spaces."""
    if text.isascii() and text.isalpha():
        word = text.lower()
        return [word] if _is_content(word) else []
    return list(_words(text, short_runs_of))


def _words(text: str, divided: Callable[[str], list[str]]) -> Iterator[str]:
    has_runs = not text.isascii()
    for found in _WORD.findall(text.lower().replace("’", "'")):
        if has_runs and RUN_WITHOUT_SPACES.match(found):
            yield from divided(found)
        elif _is_content(word := found.removesuffix("'s")):
            yield word


def _is_content(word: str) -> bool:
    return word not in TOPICLESS_WORDS and word not in _FILLERS and (len(word) > 1 or word.isdigit())


def is_filler(text: str, *, names: frozenset[str] = frozenset()) -> bool:
    """Whether a text only greets, thanks, agrees or reacts to what was said ("Sounds fun!").

    No personal statement is too short: "I'm pregnant.", "Dad died." and "I like C#." are no fillers.

    Args:
        text: A message, or a part of one.
        names: Words of the speakers' names, in lower case: to be addressed says nothing.
    """
    return are_fillers(sentences_of(text), names)


def are_fillers(sentences: Iterable[str], names: frozenset[str] = frozenset()) -> bool:
    """Whether each of a text's sentences is a filler.

    Args:
        sentences: The sentences.
        names: Words of the speakers' names, in lower case.
    """
    return all(is_filler_sentence(each, names) for each in sentences)


def has_digit(text: str) -> bool:
    """Whether a text has a digit of any script."""
    return not _DIGITS.isdisjoint(text) if text.isascii() else any(character.isdigit() for character in text)


def is_filler_sentence(text: str, names: frozenset[str] = frozenset()) -> bool:
    """Whether a sentence is a filler.

    Args:
        text: The sentence.
        names: Words of the speakers' names, in lower case.
    """
    if _GREETING.fullmatch(text):
        return True
    if has_digit(text) or _INTRODUCTION.search(text) or _SIGNED_WORD.search(text) or _ABOUT_OTHERS.match(text) or _PERSONAL.match(text):
        return False
    words = [word for word in content_words(text) if word not in names and word not in _COURTESIES]
    return not words or (len(words) == 1 and _REACTION.match(text) is not None and _FIRST_PERSON.search(text) is None)
