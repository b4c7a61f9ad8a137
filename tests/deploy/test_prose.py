"""The prose check finds idioms in every kind of text, and leaves code, links and other strings alone.

`make lint` runs it on the whole project.
"""

from pathlib import Path

import pytest

from deploy.prose import findings_in, rules

CHECKS = rules()


def found(tmp_path: Path, name: str, text: str) -> list[tuple[int, str]]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return findings_in(path, CHECKS)


@pytest.mark.parametrize(
    "text",
    [
        '"""Settles.\n\nThe user is told."""\n',
        "x = 1\n\n# Whoever asks\n",
        'def f():\n    """Runs."""\n    raise ValueError(f"the lease bears {1}")\n',
        "app.command(\n    name='x',\n    help='The option of before',\n)\n",
        '"""Module."""\n\n"""What it holds."""\n',
        '"""Module."""\n\n"""The load goes on."""\n',
        'def test():\n    word = "told"\n    assert word, "it was written anew"\n',
        '"""Module."""\n\n"""Runs in a process of its own, once."""\n',
        '"""Module."""\n\n"""The text is gone, and nobody else has it."""\n',
        'def f(notice):\n    x = 1\n    notice(f"{x} of the users, which are told")\n',
        'def f(user):\n    x = 1\n    user.problem = "mend what is named here"\n',
        'BOARD = Board(\n    panels=[\n        Panel("Time behind the newest record"),\n    ]\n)\n',
        'def f():\n    x = 1\n    return "the log is cut off behind it"\n',
    ],
)
def test_python_prose_is_checked(text: str, tmp_path: Path) -> None:
    assert [line for line, _ in found(tmp_path, "m.py", text)][:1] == [3]


@pytest.mark.parametrize(
    "text",
    [
        'word = "whoever is told"\n',
        'WORDS = re.compile(r"(?:I told him that)")\n',
        'def f():\n    return frozenset("""\nI told you\nbefore""".split())\n',
        '"""Runs ``anew``."""\n',
        '"""Returns what it was given."""\n',
        "told = 1\n",
    ],
)
def test_code_and_data_are_not_prose(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, "m.py", text) == []


def test_comments_and_summaries_of_yaml_are_checked(tmp_path: Path) -> None:
    text = 'told: 1\n# Whoever asks\nrule:\n  summary: "a record is laid down"\n  expr: behind\n'
    assert [line for line, _ in found(tmp_path, "rules.yaml", text)] == [2, 4]


def test_markdown_outside_code_and_links_is_checked(tmp_path: Path) -> None:
    text = "The [log](anew.md) and `anew`.\n\n```sh\nanew\n```\n\nBuilt anew.\n"
    assert found(tmp_path, "page.md", text) == [(7, "write 'again' instead of 'anew'")]
