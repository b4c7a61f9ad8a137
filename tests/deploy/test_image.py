"""The image's content, and its use in the Compose file, as far as plain Python can check the files."""

import importlib.metadata
import re
import tomllib
from collections.abc import Iterator

import pytest
import yaml
from packaging.requirements import Requirement

from runtime.settings import Settings
from runtime.settings_table import setting_rows
from streams.stages.catalog import STAGES
from tests.deploy.image_files import COMPOSE, IMAGE, ROOT, SERVICES, pins

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HANDED_OVER = yaml.safe_load((ROOT / "deploy" / "compose-settings.yaml").read_text())["services"]["varve"]["environment"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "varve"}


def closure(requirement: Requirement, known: set[str]) -> Iterator[str]:
    """The installed packages that a package needs."""
    name = requirement.name.lower().replace("_", "-")
    if str(requirement) in known:
        return
    known.add(str(requirement))
    try:
        needs = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return
    yield name
    for need in map(Requirement, needs):
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *requirement.extras)):
            yield from closure(need, known)


def licence_of(package: str) -> str:
    metadata = importlib.metadata.metadata(package)
    classifiers = [each for each in metadata.get_all("Classifier") or [] if each.startswith("License")]
    return " ".join([*(metadata.get_all("License-Expression") or []), *classifiers])


def test_the_image_has_the_locks_versions() -> None:
    assert IMAGE.items() <= pins(ROOT / "requirements.lock").items(), "write them again: make lock"


def test_the_image_contains_only_production_packages() -> None:
    needed = {Requirement(each).name for each in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["minilm"]]}
    assert needed - {"varve-client"} <= IMAGE.keys(), "the client is built from this repository"
    extras = PROJECT["optional-dependencies"]
    foreign = {Requirement(each).name for extra in ("dev", "embedded", "local-llm") for each in extras[extra]} - {"varve-server"}
    assert foreign & IMAGE.keys() == set()


def test_every_pin_of_the_image_has_a_hash() -> None:
    text = (ROOT / "deploy" / "requirements" / "image.lock").read_text()
    assert len(re.findall(r"^[a-z0-9.-]+==\S+ \\\n    --hash=sha256:", text, re.MULTILINE)) == len(IMAGE)


def test_every_package_of_varve_is_installed() -> None:
    include = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = {"client", *(each.rstrip("*") for each in include)}
    assert packages == set(re.findall(r"^COPY ([a-z]+) \1$", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE))
    copied = re.search(r"^for each in (.*); do$", (ROOT / "deploy" / "install.sh").read_text(), re.MULTILINE)
    assert copied is not None
    assert packages <= set(copied[1].split())


def test_the_image_runs_as_an_unprivileged_user() -> None:
    lines = (ROOT / "deploy" / "Dockerfile").read_text().splitlines()
    users = [line for line in lines if line.startswith("USER ")]
    assert re.fullmatch(r"USER [1-9]\d{3,}:[1-9]\d{3,}", users[-1])


@pytest.mark.parametrize("extra", ["minilm", "embedded"])
def test_the_notice_names_copyleft_packages(extra: str) -> None:
    notice = (ROOT / "NOTICE").read_text()
    packages = set(closure(Requirement(f"varve-server[{extra}]"), set())) - {"varve-server", "varve-client"}
    copyleft = {each for each in packages if re.search(r"GPL|MPL|Mozilla|EPL|Eclipse|CDDL", licence_of(each))}
    assert {"orjson", "certifi"} <= copyleft
    assert [each for each in sorted(copyleft) if not re.search(rf"\b{re.escape(each)}\b", notice)] == []


def test_every_process_of_ours_is_hardened() -> None:
    for name, service in OURS.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_compose_sets_only_known_settings() -> None:
    known = {row.name for row in setting_rows(Settings())}
    used = {name for service in OURS.values() for name in service["environment"]}
    used |= set(re.findall(r"\b(VARVE_[A-Z0-9_]+)=", (ROOT / "deploy" / "Dockerfile").read_text()))
    used |= set(re.findall(r"^(VARVE_[A-Z0-9_]+)=", (ROOT / "deploy" / "simulated-llm.env").read_text(), re.MULTILINE))
    assert used - known == set()
    assert len(used) > 10


def test_compose_hands_over_every_other_setting() -> None:
    """A setting that is not named reaches no container, even if the environment has it."""
    known = {row.name for row in setting_rows(Settings())}
    said = set(COMPOSE["x-varve"]["environment"])
    of_the_image = set(re.findall(r"\b(VARVE_[A-Z0-9_]+)=", (ROOT / "deploy" / "Dockerfile").read_text()))
    of_one_process = {name for name in known if name.startswith("VARVE_CLIENT__")} | {"VARVE_KAFKA__GROUP_INSTANCE_ID"}
    without_a_meaning = {"VARVE_DELIVERY__DRAIN_TIMEOUT_S", "VARVE_SERVICE__PORT", "VARVE_STORE__SOCKET", "VARVE_TENANTS_FILE"}
    assert set(HANDED_OVER) == known - said - of_the_image - of_one_process - without_a_meaning
    assert set(HANDED_OVER.values()) == {None}
    for name, service in OURS.items():
        assert service["extends"] == {"file": "compose-settings.yaml", "service": "varve"}, name


def test_no_containers_log_grows_without_end() -> None:
    for name, service in SERVICES.items():
        assert service["logging"]["options"].keys() == {"max-size", "max-file"}, name


def test_workers_start_after_their_dependencies() -> None:
    for name in (*STAGES, "service"):
        waits_for = {each: needed["condition"] for each, needed in SERVICES[name]["depends_on"].items()}
        assert waits_for == {"topics": "service_completed_successfully", "redis": "service_healthy", "qdrant": "service_healthy"}
    assert SERVICES["topics"]["depends_on"]["kafka"]["condition"] == "service_healthy"


def test_every_server_has_a_health_check() -> None:
    image_says = "HEALTHCHECK" in (ROOT / "deploy" / "Dockerfile").read_text()
    assert [name for name, service in SERVICES.items() if "healthcheck" not in service and not (image_says and name in OURS)] == []


def test_the_grace_period_is_longer_than_a_drain() -> None:
    grace_s = int(COMPOSE["x-varve"]["stop_grace_period"].removesuffix("s"))
    assert grace_s > 2 * Settings.model_construct().delivery.drain_timeout_s
