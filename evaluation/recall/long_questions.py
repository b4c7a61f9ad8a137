"""Questions in more words, as people ask who explain themselves first: what is asked stays the same, and so does the evidence.

A recall ranks long queries by other weights than short ones (:func:`retrieval.rankers.fitted_models.is_turn`), and LoCoMo's questions are
short.
"""

import zlib
from typing import Final

_FRAMES: Final = (
    "Hi! Hope you had a good morning. I was sitting here with a cup of tea and something came back to my mind, so I wanted to ask you: {}",
    "Sorry for writing so late, I could not sleep and kept thinking about this, and it bothers me that I can't remember it any more. {}",
    "Thanks for the help last time, that was great. I have another thing today: someone asked me, and I did not know the answer to it. {}",
    "Okay, I am trying to put everything together for myself at the moment and there is one point where I am not sure at all. {} Please "
    "tell me what you know.",
    "{} I have been looking through my notes for half an hour and can't find it anywhere, so I hope that you can help me with that.",
    "Hello again! Before we go on with the rest, let me check one detail with you, since I want to be certain that I have it right. {}",
    "{} It doesn't have to be a long answer, just the facts please, I am on my way and only have a few minutes before I have to leave.",
    "This may sound like a strange question, but I promised to tell a friend about it tonight and I would like to get it right. So: {}",
)
"""Each has more words than a short query."""


def in_more_words(question: str) -> str:
    """A question within one of eight frames, always the same one for the same question.

    Args:
        question: Its text.
    """
    return _FRAMES[zlib.crc32(question.encode()) % len(_FRAMES)].format(question)
