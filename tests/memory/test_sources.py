"""The sources of messages, and of the results that are based on them."""

from memory.records import SourceSet
from memory.sources import sources_of, with_sources
from tests.memory.sample_windows import CALL, PAGE, extraction_of, window_of


def test_a_message_names_its_sources() -> None:
    metadata = {"app": "crm", "channel": " support  desk ", "source": "", "ticket": 7}
    window = window_of({"text": "Hello", "speaker": "Ann", "metadata": metadata}, {"role": "assistant", "text": "Hi"})
    assert sources_of(window) == [("app:crm", "channel:support desk", "role:user", "speaker:Ann"), ("role:assistant",)]


def test_call_result_and_answer_share_the_tool() -> None:
    answer, thanks, later = {"role": "assistant", "text": "Done."}, {"text": "Thanks"}, {"role": "assistant", "text": "Bye"}
    found = sources_of(window_of({"text": "Read it"}, CALL, PAGE, answer, thanks, later))
    assert ["tool:browser" in each for each in found] == [False, True, True, True, False, False]


def test_only_evidence_keeps_its_sources() -> None:
    window = window_of({"text": "I live in Oslo", "speaker": "Ann"}, {"text": "Nice", "speaker": "Eve"})
    extraction = with_sources(extraction_of(window, "I live in Oslo", 0), window)
    assert extraction.sources == [SourceSet(names=["role:user", "speaker:Ann"], messages=[0])]
    assert extraction.model_copy(update={"events": [], "patches": []}).with_sources_in_use().sources is None
