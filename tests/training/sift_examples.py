"""Examples of one user for the training of a session ranking."""

from loadtest.requests import ChatRequest
from training.sift.data.examples import Example, ShownSession, UserExamples

LINES = ("Minka is my cat.", "It rains.", "Minka is three years old.", "I bake bread.")
USER = UserExamples(
    user="u",
    source="locomo",
    sessions=tuple(ShownSession(name=f"s{place}", lines=(line,), tokens=8) for place, line in enumerate(LINES)),
    examples=tuple(
        Example(
            id=f"e{number}",
            user="u",
            query=f"How old is my cat? ({number})",
            sessions=("s0", "s1", "s2", "s3"),
            gold=(0, 2),
            relevance=(2.0, 0.0, 1.0, 0.0),
            answer="three years",
        )
        for number in range(3)
    ),
)

RANKING = "<think>Both cat sessions.</think><ranking>0,2,1,3</ranking>"


def answering(request: ChatRequest) -> str:
    """The answer of the proxy, or of the working LLM."""
    text = "\n".join(str(each) for each in request.messages)
    if "<session0>" in text:
        return RANKING
    return "three years" if LINES[0] in text and LINES[2] in text else "unknown"
