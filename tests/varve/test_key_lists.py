"""Lists of keys on the command line."""

from datetime import UTC, datetime, timedelta

import pytest

from control.access_keys import ApiKey, hash_key
from varve.cli.keys import _list


def test_a_list_marks_expired_keys(capsys: pytest.CaptureFixture[str]) -> None:
    now = datetime.now(UTC)
    keys = [
        ApiKey(id=f"key{name}", hash=hash_key(name), created=now - timedelta(days=2), expires=expires)
        for name, expires in (("old", now - timedelta(days=1)), ("new", now + timedelta(days=1)), ("kept", None))
    ]
    _list((), ((key, ()) for key in keys), uses={})
    _, old, new, kept = capsys.readouterr().out.splitlines()
    assert "(expired)" in old
    assert "(expired)" not in new + kept
