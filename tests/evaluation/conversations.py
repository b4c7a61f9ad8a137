"""A made-up conversation in LoCoMo's form."""

from typing import Any

TURNS = [
    ("Ann", "I adopted a grey cat called Minka from the shelter yesterday."),
    ("Ben", "Minka is a fine name. I have just booked a sailing course in Kiel for August."),
    ("Ann", "I start my new job as a bookbinder in Leipzig next week."),
    ("Ben", "My brother Tom broke his arm while climbing."),
]


def conversation(user: str) -> dict[str, Any]:
    """A conversation of one session, with two questions that it answers and one that it does not.

    Args:
        user: The user whose memory it feeds.
    """
    return {
        "sample_id": user,
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": speaker, "dia_id": f"D1:{number}", "text": text} for number, (speaker, text) in enumerate(TURNS, start=1)
            ],
        },
        "qa": [
            {"question": "What is the name of Ann's cat?", "category": 4, "evidence": ["D1:1"]},
            {"question": "Where does Ben take a sailing course?", "category": 4, "evidence": ["D1:2"]},
            {"question": "What colour is Tom's boat?", "category": 5, "evidence": ["D1:4"]},
        ],
    }
