from hypothesis import given
from hypothesis import strategies as st

from memory.text import content_hash, estimate_tokens
from models.embedding.tokens import count_tokens

PROSE = (
    "Caroline went to the LGBTQ support group on 7 May 2023 and it was so powerful. The transgender stories were inspiring! "
    "I'm swamped with the kids & work. What's up with you? Anything new? We paid $1,250.75 for two nights near the lake."
)


def test_it_is_near_the_real_tokenizer_on_prose() -> None:
    assert abs(estimate_tokens(PROSE) / count_tokens(PROSE) - 1) < 0.2


def test_chinese_counts_by_the_letter() -> None:
    assert estimate_tokens("我喜欢猫") == 4


@given(st.text(), st.text())
def test_a_text_of_two_counts_what_both_count(left: str, right: str) -> None:
    assert estimate_tokens(f"{left} {right}") == estimate_tokens(left) + estimate_tokens(right)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789.,!?", min_size=1))
def test_it_counts_between_one_token_and_one_per_character(text: str) -> None:
    assert 1 <= estimate_tokens(text) <= len(text)


def test_content_hash_ignores_white_space_alone() -> None:
    assert content_hash(" a\n b\t") == content_hash("a b")
    assert content_hash("a b") != content_hash("ab")
    assert content_hash("\ud800") != content_hash("\ud801"), "a lone surrogate is hashed, not refused"
