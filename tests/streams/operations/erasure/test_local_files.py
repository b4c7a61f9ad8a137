"""Files of a data folder that name a user are found, also where the store has deleted the row."""

from pathlib import Path

from memory.keys import encode_key
from streams.engine.state.folders import tables_folder
from streams.engine.state.partition_state import StateChange
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.operations.erasure.remnants import naming_files


def test_a_deleted_row_is_found_until_compaction(tmp_path: Path) -> None:
    table = RocksDBStore(tables_folder(tmp_path, "sessions") / "0" / "3")
    table.open()
    table.write([StateChange(encode_key("acme", "ada"), b"a word"), StateChange(b"key", b'{"user":"bob"}')], 1)
    table.write([StateChange(encode_key("acme", "ada"), None)], 2)
    folder = "tables/sessions/0/3"
    assert naming_files(tmp_path, "acme", "ada") == {folder: 1}
    table.compact()
    assert naming_files(tmp_path, "acme", "ada") == {}
    assert naming_files(tmp_path, "acme", "bob") == {folder: 1}
    table.close()


def test_files_of_the_embedded_redis_are_searched(tmp_path: Path) -> None:
    (tmp_path / "redis" / "appendonlydir").mkdir(parents=True)
    (tmp_path / "redis" / "appendonlydir" / "appendonly.aof.1.incr.aof").write_bytes(b'$9\r\n{"user":"ada","text":"a word"}')
    (tmp_path / "redis" / "dump.rdb").write_bytes(b"")
    (tmp_path / "redis" / "redis.log").write_bytes(b'{"user":"ada"}')
    assert naming_files(tmp_path, "acme", "ada") == {"redis/appendonlydir": 1}


def test_files_of_the_embedded_store_are_searched(tmp_path: Path) -> None:
    (tmp_path / "edge" / "shard" / "wal").mkdir(parents=True)
    (tmp_path / "edge" / "shard" / "wal" / "0").write_bytes(b'\x00{"tenant":"acme","user":"ada"}')
    assert naming_files(tmp_path, "acme", "ada") == {"edge/shard/wal": 1}


def test_a_folder_without_files_has_no_users(tmp_path: Path) -> None:
    assert naming_files(tmp_path, "acme", "ada") == {}
