"""Made-up files in the format of LongMemEval."""

from pathlib import Path
from typing import Any

import orjson


def entry(question_id: str, *, answer: str = "s2") -> dict[str, Any]:
    return {
        "question_id": question_id,
        "question_type": "single-session-user",
        "question": "What is the name of my cat?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 09:10", "2023/05/22 (Mon) 18:00"],
        "haystack_session_ids": ["s1", "s2", "s3"],
        "haystack_sessions": [
            [{"role": "user", "content": "I want to bake bread with rye flour this weekend."}],
            [
                {"role": "user", "content": "I adopted a grey cat called Minka from the shelter yesterday."},
                {"role": "assistant", "content": "Congratulations! Minka is a lovely name for a cat."},
            ],
            [{"role": "user", "content": "Which train goes from Leipzig to Kiel in the morning?"}],
        ],
        "answer_session_ids": [answer],
    }


def written(folder: Path, *entries: Any) -> Path:
    path = folder / "longmemeval.json"
    path.write_bytes(orjson.dumps(entries))
    return path
