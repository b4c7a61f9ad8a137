"""The terms of texts in many scripts."""

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.texts.terms import terms_of, words_of
from tests.retrieval.many_languages import LANGUAGES


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The cats are running", ["cat", "run"]),
        ("Caroline's hobbies", ["carolin", "hobbi"]),
        ("She baked a cake and bakes cakes", ["bake", "cake", "bake", "cake"]),
        ("Café CAFÉ cafe", ["cafe", "cafe", "cafe"]),
        ("on 7 May 2023 at 19:30", ["7", "may", "2023", "19", "30"]),
        ("don't, won't", ["don't", "won't"]),
        ("what is this", []),
        ("", []),
        ("…!?", []),
        ("我喜欢红色", ["我喜", "喜欢", "欢红", "红色", "喜", "欢", "红", "色"]),
        ("GPT4模型v2", ["gpt4", "模型", "模", "型", "v2"]),
        ("茶", ["茶"]),
        ("snake_case", ["snake", "case"]),
        ("Straße", ["strass"]),
        ("ﬁne", ["fine"]),
        ("l'hôpital d’Alsace", ["hopit", "alsac"]),
        ("7 o'clock, c'mon, all's well", ["7", "oclock", "cmon", "well"]),
        ("मुझे मूंगफली दें", ["मुझे", "मूंगफली", "दें"]),
        ("আমার চিনাবাদামে", ["আমার", "চিনাবাদামে"]),
        ("எனக்கு வேர்க்கடலை", ["எனக்கு", "வேர்க்கடலை"]),
        ("ถั่วลิสง", ["ถั่ว", "วลิ", "ลิส", "สง"]),
        ("ခွေးနဲ့စာအုပ်", ["ခွေးနဲ့", "နဲ့စာ", "စာအု", "အုပ်"]),
        ("佐々木さん", ["佐々", "々木", "木さ", "さん", "佐", "木"]),
        ("서울에서 차를", ["서울", "울에", "에서", "차", "차를"]),
        ("کتاب‌ها", ["كتاب", "ها"]),
        ("I ❤️ you 1️⃣ 👩‍👩‍👧 ok", ["1", "ok"]),
        ("м'ята", ["мята"]),
    ],
)
def test_terms_of_a_text(text: str, terms: list[str]) -> None:
    assert list(terms_of(text)) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("paint", "painting"),
        ("painted", "paints"),
        ("city", "cities"),
        ("box", "boxes"),
        ("stop", "stopped"),
        ("hope", "hoping"),
        ("adopt", "adopting"),
        ("class", "classes"),
        ("charity", "charities"),
        ("study", "studies"),
    ],
)
def test_forms_of_one_word_have_one_term(one: str, other: str) -> None:
    assert list(terms_of(one)) == list(terms_of(other))


@pytest.mark.parametrize(("one", "other"), [("bus", "bu"), ("sing", "s"), ("2023", "2024"), ("news", "new york"), ("red", "r")])
def test_other_words_keep_different_terms(one: str, other: str) -> None:
    assert list(terms_of(one)) != list(terms_of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＧＰＴ４", "gpt4"),
        ("𝐇𝐞𝐥𝐥𝐨™", "hellotm"),
        ("ﾋﾟｰﾅｯﾂ", "ピーナッツ"),
        ("İSTANBUL IŞIK", "istanbul ışık"),
        ("Straße", "STRASSE"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσεύς"),
        ("Đà Nẵng", "da nang"),
        ("Łódź Tromsø sœur", "lodz tromso soeur"),
        ("२०२४ ٢٠٢٤ ๒๐๒๔", "2024 2024 2024"),
        ("حَسَاسِيَّةٌ", "حساسية"),
        ("آذار كتاب", "اذار کتاب"),
        ("אַלֶרְגִיָּה", "אלרגיה"),
        ("ज़रूर हाँ", "जरूर हां"),
        ("м’ята", "мʼята"),
        ("क्\u200dष", "क्ष"),
        ("co\u00adoperate", "cooperate"),
    ],
)
def test_two_spellings_of_a_word_share_a_term(one: str, other: str) -> None:
    assert list(terms_of(one)) == list(terms_of(other))


@pytest.mark.parametrize(("one", "other"), [("कमल", "कमला"), ("पानी", "पान"), ("เสือ", "เสื้อ"), ("가다", "나다"), ("パン", "バン")])
def test_a_vowel_sign_makes_another_word(one: str, other: str) -> None:
    assert set(terms_of(one)).isdisjoint(terms_of(other))


@pytest.mark.parametrize("text", [text for notes in LANGUAGES.values() for text in notes.memories])
def test_no_normal_form_makes_a_difference(text: str) -> None:
    assert list(terms_of(normalize("NFD", text))) == list(terms_of(normalize("NFC", text)))


@given(st.text())
def test_no_term_is_blank(text: str) -> None:
    assert all(term and not term.isspace() for term in terms_of(text))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("O'Brien, O’Connor's goats, O`Neill", ["obrien", "oconnor", "goat", "oneil"]),
        ("C, C# and C++, C++17, F#, A*", ["c", "c#", "c++", "c++", "17", "f#", "a*"]),
        ("*really* a**b**", ["realli", "b"]),
        ("Node.js on .NET", ["nodej", "node", "js", ".net"]),
        ("AT&T and H&M, salt&pepper", ["at&t", "h&m", "salt", "pepper"]),
        ("T-shirt, e-mail, Wi-Fi", ["tshirt", "shirt", "email", "mail", "wifi", "wi", "fi"]),
        ("GPT-4 for a follow-up by my mother-in-law", ["gpt4", "gpt", "follow", "mother", "law"]),
        ("4K, 3.5 km, 3,5 km, 1,000, 40-45", ["4k", "3.5", "km", "3.5", "km", "1000", "40", "45"]),
        ("at 9 a.m. in the U.S., not with us", ["9", "US", "us"]),
        ("the IT department, it is big", ["IT", "depart", "big"]),
        ("WHAT DO YOU WANT FROM US", ["want", "us"]),
        ("my friend Will asks: Will you come?", ["friend", "WILL", "ask", "come"]),
        ("Will restores boats. Will's boat", ["WILL", "restor", "boat", "WILL", "boat"]),
        ("Hawai'i, ma'am, rock'n'roll", ["hawai", "hawaii", "maam", "rock", "rocknrol"]),
        ("great.I love it", ["great", "love"]),
    ],
)
def test_punctuation_and_capitals_distinguish_words(text: str, terms: list[str]) -> None:
    assert list(terms_of(text)) == terms


@pytest.mark.parametrize(
    "names", [("O'Brien", "O'Connor", "O'Neill", "O'Hara"), ("C", "C#", "C++"), ("in US", "us"), ("Don", "don't"), ("3.5", "3", "5")]
)
def test_different_names_share_no_term(names: tuple[str, ...]) -> None:
    found = [set(terms_of(each)) for each in names]
    assert all(found)
    assert all(one.isdisjoint(other) for place, one in enumerate(found) for other in found[:place])


@pytest.mark.parametrize(
    ("one", "other"),
    [("O'Brien's", "o’brien"), ("T-shirts", "tshirt shirt"), ("OBrien", "O'Brien"), ("the U.S.", "the US"), ("Node.JS", "node.js")],
)
def test_spellings_of_a_name_share_a_term(one: str, other: str) -> None:
    assert list(terms_of(one)) == list(terms_of(other))


@given(st.text(alphabet="abO'’.&-+#*,19 Will US C\u0416\u8336", max_size=40))
def test_words_split_again_give_the_same_terms(text: str) -> None:
    words = words_of(text)
    assert [term for word in words for term in terms_of(word)] == list(terms_of(text))
