"""Words of scripts that are written without spaces: pairs of characters to count by, short runs to be keywords.

No dictionary is at hand that would find the words themselves. What is cut here is rough, but short, and the same whenever it is said again.
"""

import re
from typing import Final

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
_CHINESE_BREAK: Final = re.compile(rf"{_TIME}|[我你您他她它们們的了着在是到和对對也都很就不没沒这這那吗嗎呢吧把被跟从從]")
_JAPANESE_BREAK: Final = re.compile(rf"{_TIME}|[\u3040-\u309f]+")
_PARTICLE: Final = re.compile(r"[はがをにでとものへ]")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
_SAME_SCRIPT: Final = re.compile(
    r"[\u30a0-\u30ff]+|[\u3040-\u309f]+|[\u3400-\u9fff\uf900-\ufaff]+|[^\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
_SYLLABLES: Final = re.compile(r".{4,8}(?![\u0e30-\u0e3a\u0e45\u0e47-\u0e4e])|.{1,8}")
"""At most eight characters, none cut off from the Thai vowels and tones that belong to it."""
_LONGEST_CHINESE: Final = 6


def pairs_of(run: str) -> list[str]:
    """The overlapping pairs of a run's characters, as the lexical index counts them; none of a greeting or a filler."""
    if _FILLER_RUN.fullmatch(run):
        return []
    return [run[place : place + 2] for place in range(max(1, len(run) - 1))]


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
    if "\u3400" <= part[0] <= "\ufaff":
        return [part] if len(part) <= _LONGEST_CHINESE else pairs_of(part)
    return _SYLLABLES.findall(part)
