"""The size of the stored values of statements is bounded: a value of hundreds of kilobytes counts as many sentences."""

from extraction.statements import _content_words


def test_sentences_are_kept_and_large_values_give_way() -> None:
    large, small = ("rides on " * 5000, [f"{number} red bicycles of Oslo" for number in range(2000)])
    first = _content_words(large)
    assert _content_words(large) is first
    sentences = [_content_words(each) for each in small]
    assert _content_words(small[0]) is sentences[0]
    for number in range(8):
        _content_words(f"{number} {large}")
    assert _content_words(large) is not first
