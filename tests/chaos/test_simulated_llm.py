"""The simulated LLM of the chaos runs fails as often as the dead letters need."""

from loadtest.requests import ChatRequest
from runtime.settings import ExtractionSettings
from tests.chaos.simulated_llm import PROSE, Answers

WINDOWS = 500


def request(window: int, previous: str | None = None) -> ChatRequest:
    """The request of a window; with ``previous``, of a repair of that answer."""
    turns = [{"role": "user", "content": f"<<<messages x\n[0] ann: it rained {window} times\nmessages x>>>\n"}]
    if previous is not None:
        turns += [{"role": "assistant", "content": previous}, {"role": "user", "content": "That answer cannot be used."}]
    return ChatRequest.read({"messages": turns})


def fails(answers: Answers, window: int, garbled: str) -> bool:
    """Whether an attempt gives neither an answer nor a repair."""
    return answers.answer(request(window)) == PROSE and answers.answer(request(window, garbled)) == PROSE


def test_a_stubborn_window_fails_until_it_is_redriven() -> None:
    attempts, answers = ExtractionSettings().attempts, Answers(7)
    on_the_way = (PROSE, f"```json\n{PROSE}\n```", PROSE[:9])
    failed = {window: [fails(answers, window, on_the_way[attempt % 3]) for attempt in range(attempts + 1)] for window in range(WINDOWS)}
    stubborn = [each for each in failed.values() if each[0]]
    assert 2 <= len(stubborn) <= WINDOWS / 20
    assert all(each == [True] * attempts + [False] for each in stubborn)
    assert not any(any(each[1:]) for each in failed.values() if not each[0])
