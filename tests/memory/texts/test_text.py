import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.texts.text import content_hash, estimate_tokens
from models.embedding.tokens import count_tokens

PROSE = (
    "Caroline went to the LGBTQ support group on 7 May 2023 and it was so powerful. The transgender stories were inspiring! "
    "I'm swamped with the kids & work. What's up with you? Anything new? We paid $1,250.75 for two nights near the lake."
)


def test_it_is_near_the_real_tokenizer_on_prose() -> None:
    assert abs(estimate_tokens(PROSE) / count_tokens(PROSE) - 1) < 0.2


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("Wczoraj pojechałem z żoną do Łodzi, żeby obejrzeć nowe mieszkanie.", 29),
        ("Gelecek ay Isparta'ya taşınacağım çünkü orada öğretmen olarak işe başlıyorum.", 27),
        ("Gestern bin ich mit meiner Schwester zu unserer Großmutter gefahren.", 18),
        ("Hôm qua tôi đưa con gái đến bệnh viện ở Đà Nẵng vì cháu bị dị ứng đậu phộng.", 27),
        ("Вчера мы с сестрой ездили на дачу и собирали смородину.", 26),
        ("Χθες πήγα με την αδερφή μου στη Θεσσαλονίκη.", 37),
        ("ذهبت أمس مع أختي إلى المستشفى لأن ابنها يعاني من حساسية الفول السوداني.", 26),
        ("אתמול נסעתי עם אחותי לחיפה כדי לראות את הדירה החדשה.", 48),
        ("मेरी बहन के बेटे को मूंगफली से एलर्जी है।", 38),
        ("আমার বোনের ছেলের চিনাবাদামে অ্যালার্জি আছে।", 48),
        ("எனக்கு வேர்க்கடலை ஒவ்வாமை உள்ளது.", 47),
        ("నాకు వేరుశెనగ అలర్జీ ఉంది.", 45),
        ("เมื่อวานฉันไปโรงพยาบาลกับน้องสาวเพราะลูกชายของเธอแพ้ถั่วลิสง", 30),
        ("어제 여동생과 함께 병원에 갔는데, 조카가 땅콩 알레르기가 있어요.", 29),
        ("昨日、妹と一緒に病院へ行きました。甥がピーナッツアレルギーなんです。", 29),
        ("昨天我和妹妹一起去了医院，因为她的儿子对花生过敏。", 19),
        ("我用GPT4模型写了一个project，跑在AWS上，昨天deploy的时候Docker容器restart了三次。", 29),
        ("ትናንት ከእህቴ ጋር ወደ ሆስፒታል ሄድኩ።", 62),
    ],
)
def test_the_estimate_is_not_far_below_real_tokenizers(text: str, most: int) -> None:
    """The most that the tokenizers of GPT-4o, Qwen 3, Llama 3 and Gemma 3 made of it, counted once."""
    assert 0.85 * most <= estimate_tokens(text) <= 2.5 * most


def test_chinese_is_counted_by_character() -> None:
    assert estimate_tokens("我喜欢猫") == 4


@given(st.text(), st.text())
def test_token_counts_of_parts_add_up(left: str, right: str) -> None:
    assert estimate_tokens(f"{left} {right}") == estimate_tokens(left) + estimate_tokens(right)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789.,!?", min_size=1))
def test_it_counts_between_one_token_and_one_per_character(text: str) -> None:
    assert 1 <= estimate_tokens(text) <= len(text)


def test_content_hash_ignores_only_white_space() -> None:
    assert content_hash(" a\n b\t") == content_hash("a b")
    assert content_hash("a b") != content_hash("ab")
    assert content_hash("\ud800") != content_hash("\ud801"), "a lone surrogate is hashed, not refused"
