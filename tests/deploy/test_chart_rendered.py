"""The rendered chart, compared with Varve's processes and with Kubernetes' own schemas."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from runtime.metrics import Metrics
from runtime.probe import ProbeServer
from runtime.settings import Settings
from streams.stages.catalog import STAGES

pytestmark = pytest.mark.external

ROOT = Path(__file__).parents[2]
CHART = ROOT / "helm" / "varve"
CASES = {path.name.removesuffix("-values.yaml"): yaml.safe_load(path.read_text()) for path in sorted((CHART / "ci").glob("*-values.yaml"))}
MINIMAL = CASES["minimal"]
KUBERNETES = ("1.29.0", "1.37.0")
OF_OPERATORS = ("keda.sh/v1alpha1", "monitoring.coreos.com/v1")
SECRETS = {"VARVE_REDIS__URL": "redis://redis:6379/0", "VARVE_SIGNING__SECRET": "x" * 32, "VARVE_TRACING__HEADERS": "x-key=x"}

Document = dict[str, Any]


def helm(checks: Path, values: list[Document], *, lint: bool = False) -> Document:
    given = json.dumps({"chart": str(CHART), "values": values, "lint": values if lint else []})
    command = (checks / "python", ROOT / "tests" / "deploy" / "helm_tool.py")
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outcome: Document = json.loads(done.stdout)
    return outcome


def documents_of(outcome: Document) -> list[Document]:
    assert "error" not in outcome, outcome
    texts = [text for file, text in outcome["rendered"].items() if file.endswith(".yaml")]
    return [document for text in texts for document in yaml.safe_load_all(text) if document]


@pytest.fixture(scope="module")
def rendered(checks: Path) -> dict[str, list[Document]]:
    outcomes = helm(checks, list(CASES.values()))["outcomes"]
    return {name: documents_of(outcome) for name, outcome in zip(CASES, outcomes, strict=True)}


@pytest.fixture(scope="module")
def manifests(rendered: dict[str, list[Document]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manifests in the form that Kubernetes reads, one file per case."""
    folder = tmp_path_factory.mktemp("manifests")
    for name, documents in rendered.items():
        native = [each for each in documents if each["apiVersion"] not in OF_OPERATORS]
        (folder / f"{name}.yaml").write_text(yaml.safe_dump_all(native))
    return folder


def of_kind(documents: list[Document], kind: str) -> dict[str, Document]:
    return {each["metadata"]["name"]: each for each in documents if each["kind"] == kind}


def containers(documents: list[Document]) -> Iterator[tuple[str, Document, Document]]:
    """Each container of Varve: what it belongs to, the pod, and itself."""
    for document in documents:
        pod = document.get("spec", {}).get("template", {}).get("spec", {})
        for container in pod.get("containers", []):
            if "varve" in container["image"]:
                yield document["metadata"]["name"], pod, container


def environment(container: Document) -> dict[str, str]:
    return {each["name"]: each.get("value", SECRETS.get(each["name"], "given")) for each in container["env"]}


def test_lint_finds_nothing(checks: Path) -> None:
    for report in helm(checks, list(CASES.values()), lint=True)["lints"]:
        assert report["errors"] == []
        assert [each for each in report["messages"] if each["error"] != "icon is recommended"] == []


@pytest.mark.parametrize("case", CASES)
def test_varve_takes_every_setting_as_rendered(case: str, rendered: Mapping[str, list[Document]], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in os.environ if each.startswith("VARVE_")]:
        monkeypatch.delenv(name)
    for owner, _, container in containers(rendered[case]):
        given = environment(container)
        with monkeypatch.context() as patch:
            for name, value in given.items():
                patch.setenv(name, value)
            settings = Settings(_env_file=None)
        assert settings.store.kind == "server", owner
        assert settings.metrics_port == 9100, owner
        assert settings.kafka.partitions == CASES[case].get("kafka", {}).get("partitions", 8), owner
        fields = {name.removeprefix("VARVE_").lower().split("__")[0] for name in given}
        assert fields <= Settings.model_fields.keys(), owner


def test_everything_off_is_nothing(rendered: Mapping[str, list[Document]]) -> None:
    assert rendered["everything-off"] == []


@pytest.mark.parametrize("case", ["minimal", "production", "everything-on"])
def test_every_stage_has_workers_with_a_volume(case: str, rendered: Mapping[str, list[Document]]) -> None:
    owners = {container["args"][1]: owner for owner, _, container in containers(rendered[case]) if container["args"][0] == "worker"}
    assert owners.keys() == STAGES.keys()
    for name in STAGES:
        spec = of_kind(rendered[case], "StatefulSet")[owners[name]]["spec"]
        [container] = spec["template"]["spec"]["containers"]
        assert [each["metadata"]["name"] for each in spec["volumeClaimTemplates"]] == ["data"]
        assert {"name": "data", "mountPath": environment(container)["VARVE_DATA"]} in container["volumeMounts"]
        [own_name] = [each for each in container["env"] if each["name"] == "VARVE_KAFKA__GROUP_INSTANCE_ID"]
        assert own_name["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name"}}


@pytest.mark.parametrize("case", ["minimal", "production", "everything-on"])
def test_no_worker_is_killed_while_it_drains(case: str, rendered: Mapping[str, list[Document]]) -> None:
    for owner, pod, container in containers(rendered[case]):
        if container["args"][0] not in ("worker", "serve"):
            continue
        drain_s = float(environment(container)["VARVE_DELIVERY__DRAIN_TIMEOUT_S"])
        wait_s = float(container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])[1])
        # A worker drains what it has begun, then stops its consumer: each may take the whole time.
        needed_s = wait_s + drain_s * (2 if container["args"][0] == "worker" else 1)
        assert pod["terminationGracePeriodSeconds"] > needed_s, owner


@pytest.mark.parametrize("case", ["production", "everything-on"])
def test_lag_is_measured_for_the_stages_own_group(case: str, rendered: Mapping[str, list[Document]]) -> None:
    scaled = of_kind(rendered[case], "ScaledObject")
    partitions = CASES[case]["kafka"]["partitions"]
    triggers = {each["spec"]["triggers"][0]["metadata"]["consumerGroup"]: each["spec"] for each in scaled.values()}
    assert triggers.keys() == {stage.group("varve.") for stage in STAGES.values()}
    for stage in STAGES.values():
        spec = triggers[stage.group("varve.")]
        assert spec["triggers"][0]["metadata"]["topic"] == f"varve.{stage.source.name}"
        assert 1 <= spec["minReplicaCount"] <= spec["maxReplicaCount"] <= partitions
        assert spec["scaleTargetRef"]["name"] in of_kind(rendered[case], "StatefulSet")
        assert "replicas" not in of_kind(rendered[case], "StatefulSet")[spec["scaleTargetRef"]["name"]]["spec"]


async def test_probes_use_endpoints_that_the_process_serves(rendered: Mapping[str, list[Document]]) -> None:
    asked = {
        container[probe]["httpGet"]["path"]
        for _, _, container in containers(rendered["minimal"])
        for probe in ("startupProbe", "livenessProbe", "readinessProbe")
        if probe in container
    }
    assert asked == {"/healthz", "/readyz"}
    async with (
        ProbeServer(host="127.0.0.1", port=0, ready=lambda: {"assigned": True}, metrics=Metrics()) as page,
        httpx.AsyncClient() as http,
    ):
        answers = {path: (await http.get(f"http://127.0.0.1:{page.port}{path}")).status_code for path in asked}
    assert answers == {"/healthz": 200, "/readyz": 200}


def test_metrics_are_not_on_the_public_port(rendered: Mapping[str, list[Document]]) -> None:
    documents = rendered["everything-on"]
    public = of_kind(documents, "Service")["release-memory-service"]
    assert [each["targetPort"] for each in public["spec"]["ports"]] == ["http"]
    policy = of_kind(documents, "NetworkPolicy")["release-memory-service"]
    peers = {rule["ports"][0]["port"]: rule["from"] for rule in policy["spec"]["ingress"]}
    assert peers["metrics"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    assert peers["http"] != peers["metrics"]


def names_at_kafka(documents: list[Document]) -> dict[str, tuple[str, str]]:
    """Each command's user at Kafka, and the key of the secret with its password."""
    names: dict[str, tuple[str, str]] = {}
    for _, _, container in containers(documents):
        given = {each["name"]: each for each in container["env"]}
        assert len(given) == len(container["env"]), "Kubernetes takes the last of two, and warns"
        if password := given.get("VARVE_KAFKA__SASL_PASSWORD"):
            name = given["VARVE_KAFKA__SASL_USERNAME"]["value"]
            names[container["args"][0]] = (name, password["valueFrom"]["secretKeyRef"]["key"])
    return names


def test_each_part_has_its_own_name_at_kafka(rendered: Mapping[str, list[Document]]) -> None:
    """As in `docs/operate/security.md`: workers may not write the control log, and the service may not write the stages' topics."""
    admin = ("varve-admin", "kafka-admin")
    assert names_at_kafka(rendered["production"]) == {
        "topics": admin,
        "apply": admin,
        "worker": ("varve-flow", "kafka"),
        "serve": ("varve-service", "kafka-service"),
    }


def test_a_stages_secrets_are_its_own(rendered: Mapping[str, list[Document]]) -> None:
    holders = {
        " ".join(container["args"][:2])
        for _, _, container in containers(rendered["everything-on"])
        if "VARVE_LLM__API_KEY" in environment(container)
    }
    assert holders == {"worker extraction"}


def test_the_canary_gets_only_its_own_secret(rendered: Mapping[str, list[Document]]) -> None:
    [container] = [each for _, _, each in containers(rendered["everything-on"]) if each["args"] == ["canary"]]
    assert [each["name"] for each in container["env"] if "valueFrom" in each] == ["VARVE_CLIENT__API_KEY"]


def test_the_canary_reaches_only_the_service(rendered: Mapping[str, list[Document]]) -> None:
    documents = rendered["everything-on"]
    [(owner, _, container)] = [each for each in containers(documents) if each[2]["args"] == ["canary"]]
    service = of_kind(documents, "Service")["release-memory-service"]
    given = environment(container)
    assert given["VARVE_CLIENT__URL"] == f"http://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    assert given["VARVE_CLIENT__API_KEY"] == "given"
    labels = of_kind(documents, "Deployment")[owner]["spec"]["template"]["metadata"]["labels"]
    public = next(
        rule
        for rule in of_kind(documents, "NetworkPolicy")["release-memory-service"]["spec"]["ingress"]
        if rule["ports"][0]["port"] == "http"
    )
    assert any(selects(peer["podSelector"], labels) for peer in public["from"] if "podSelector" in peer)
    assert not [each for each in rendered["minimal"] if each["metadata"]["name"].endswith("-canary")], "it is off unless somebody wants it"


def test_workers_of_a_reextraction_wait_while_it_is_paused(rendered: Mapping[str, list[Document]]) -> None:
    documents = rendered["everything-on"]
    [(owner, pod, container)] = [each for each in containers(documents) if each[2]["args"][0] == "generations"]
    assert container["args"] == ["generations", "work", "v2", "--wait"]
    assert of_kind(documents, "Deployment")[owner]["spec"]["replicas"] == 2
    assert environment(container)["VARVE_LLM__CONCURRENCY"] == "8"
    assert not [name for name in container if name.endswith("Probe")], "a paused worker has no health page"
    assert pod["terminationGracePeriodSeconds"] > 2 * float(environment(container)["VARVE_DELIVERY__DRAIN_TIMEOUT_S"])
    assert not [each for each in rendered["minimal"] if each["metadata"]["name"].endswith("-reextraction")], "it is off by default"


def test_every_pod_has_a_policy(rendered: Mapping[str, list[Document]]) -> None:
    for case in ("minimal", "production", "everything-on"):
        policies = [
            each["spec"] for each in of_kind(rendered[case], "NetworkPolicy").values() if each["spec"]["policyTypes"] == ["Ingress"]
        ]
        for document in rendered[case]:
            labels = document["spec"].get("template", {}).get("metadata", {}).get("labels") if "spec" in document else None
            if labels is None:
                continue
            assert any(selects(policy["podSelector"], labels) for policy in policies), document["metadata"]["name"]


def selects(selector: Document, labels: Mapping[str, str]) -> bool:
    matches = selector["matchLabels"].items() <= labels.items()
    return matches and all(labels[each["key"]] in each["values"] for each in selector.get("matchExpressions", []))


def test_a_hook_uses_no_resources_of_the_release(rendered: Mapping[str, list[Document]]) -> None:
    jobs = of_kind(rendered["production"], "Job")
    assert jobs["release-varve-topics"]["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert "serviceAccountName" not in jobs["release-varve-topics"]["spec"]["template"]["spec"]
    assert jobs["release-varve-tenants"]["spec"]["template"]["spec"]["containers"][0]["args"][:3] == [
        "apply",
        "--file",
        "/secret/tenants.yaml",
    ]
    # The broker of the release comes with it: before it there is none to ask.
    assert "annotations" not in of_kind(rendered["everything-on"], "Job")["release-memory-topics-3"]["metadata"]


def test_rules_and_dashboards_equal_the_repository_files(rendered: Mapping[str, list[Document]]) -> None:
    rules = [each["spec"] for each in of_kind(rendered["production"], "PrometheusRule").values()]
    written = [yaml.safe_load(path.read_text()) for path in (ROOT / "deploy" / "prometheus" / "rules").glob("*.yaml")]
    assert sorted(json.dumps(each, sort_keys=True) for each in rules) == sorted(json.dumps(each, sort_keys=True) for each in written)
    boards = {name: text for each in of_kind(rendered["production"], "ConfigMap").values() for name, text in each["data"].items()}
    files = {f"varve-{path.name}": json.loads(path.read_text()) for path in (ROOT / "deploy" / "grafana" / "dashboards").glob("*.json")}
    assert {name: json.loads(text) for name, text in boards.items()} == files


def test_disabled_stages_raise_no_missing_worker_alert(checks: Path) -> None:
    alert = "VarveStageWithoutWorkers"
    some = {"stages": {"sessions": {"enabled": False}, "merging": {"enabled": False}}, "service": {"enabled": False}}
    none = {"stageDefaults": {"enabled": False}, "service": {"enabled": False}}
    outcomes = helm(checks, [merged(MINIMAL, {"monitoring": {"prometheusRule": {"enabled": True}}} | each) for each in (some, none)])
    missed, nobody = [rules_of(documents_of(outcome)) for outcome in outcomes["outcomes"]]
    running = [name for name in STAGES if name not in ("sessions", "merging")]
    assert re.findall(r'absent\(up\{job="varve",component="(\w+)"', missed[alert]["expr"]) == running
    assert missed.keys() - nobody.keys() == {alert}


def rules_of(documents: list[Document]) -> dict[str, Document]:
    groups = [group for each in of_kind(documents, "PrometheusRule").values() for group in each["spec"]["groups"]]
    return {rule.get("alert", rule.get("record")): rule for group in groups for rule in group["rules"]}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kafka": {"bootstrap": ""}}, "kafka.bootstrap is empty"),
        ({"kafka": {"bundled": {"enabled": True}}}, "contradict each other"),
        ({"kafka": {"bootstrap": "", "bundled": {"enabled": True}}}, "the bundled Kafka is one broker"),
        ({"kafka": {"minInsyncReplicas": 4}}, "kafka.minInsyncReplicas is 4 and must be from 2"),
        ({"kafka": {"minInsyncReplicas": 1}}, "kafka.minInsyncReplicas is 1 and must be from 2"),
        ({"redis": {"url": ""}}, "Redis has to be told in exactly one way"),
        ({"redis": {"bundled": {"enabled": True}}}, "Redis has to be told in exactly one way"),
        ({"qdrant": {"url": ""}}, "Qdrant has to be told in exactly one way"),
        ({"stages": {"events": {"replicas": 9}}}, "stages.events.replicas is 9 and kafka.partitions is 8"),
        ({"stages": {"index": {"autoscaling": {"enabled": True, "maxReplicas": 9}}}}, "a worker without a partition has no work"),
        ({"stages": {"index": {"autoscaling": {"enabled": True, "maxReplicas": 2, "minReplicas": 3}}}}, "more than the most, which is 2"),
        ({"service": {"autoscaling": {"enabled": True, "minReplicas": 11}}}, "more than maxReplicas, which is 10"),
        ({"canary": {"enabled": True}}, "canary.enabled needs canary.existingSecret"),
        ({"reextraction": {"enabled": True}}, "reextraction.enabled needs reextraction.generation"),
        ({"reextraction": {"replicas": 9}}, "reextraction.replicas is 9 and kafka.partitions is 8"),
        (
            {"config": {"VARVE_LLM__MODEL": "m"}, "reextraction": {"secrets": {"VARVE_LLM__MODEL": {"name": "a", "key": "b"}}}},
            "stands in config and in secrets, of all or of reextraction",
        ),
        ({"canary": {"enabled": True, "existingSecret": "s"}, "service": {"enabled": False}}, "canary.enabled needs service.enabled"),
        (
            {"config": {"VARVE_BUDGET__HARD_TOKENS": 1}, "secrets": {"VARVE_BUDGET__HARD_TOKENS": {"name": "a", "key": "b"}}},
            "stands in config and in secrets",
        ),
        (
            {"config": {"VARVE_LLM__MODEL": "m"}, "stages": {"merging": {"secrets": {"VARVE_LLM__MODEL": {"name": "a", "key": "b"}}}}},
            "stands in config and in secrets, of all or of stages.merging",
        ),
        ({"service": {"secrets": {"VARVE_REDIS__URL": {"name": "a", "key": "b"}}}}, "needs secrets.VARVE_REDIS__URL"),
        ({"jobs": {"config": {"VARVE_KAFKA__SASL_PASSWORD": "s"}}}, "VARVE_KAFKA__SASL_PASSWORD"),
        ({"networkPolicy": {"egress": {"enabled": True}}}, "name them in networkPolicy.egress.to"),
        ({"kafka": {"partition": 8}}, "partition"),
        ({"stages": {"session": {}}}, "session"),
        ({"config": {"VARVE_LLM__MODLE": "m"}}, "VARVE_LLM__MODLE"),
        ({"config": {"VARVE_LLM__API_KEY": "s"}}, "VARVE_LLM__API_KEY"),
        ({"config": {"VARVE_KAFKA__PARTITIONS": 3}}, "VARVE_KAFKA__PARTITIONS"),
        ({"config": {"VARVE_DELIVERY__SLOTS": "many"}}, "VARVE_DELIVERY__SLOTS"),
        ({"secrets": {"VARVE_LLM__MODLE": {"name": "a", "key": "b"}}}, "VARVE_LLM__MODLE"),
        ({"redis": {"url": "redis://me:secret@redis:6379"}}, "redis/url"),
        ({"staticMembership": {"sessionTimeoutSeconds": 31}}, "sessionTimeoutSeconds"),
    ],
    ids=lambda given: json.dumps(given)[:60] if isinstance(given, dict) else "",
)
def test_contradictions_are_refused_and_named(checks: Path, values: Document, message: str) -> None:
    [outcome] = helm(checks, [merged(MINIMAL, values)])["outcomes"]
    assert message in outcome.get("error", "rendered"), outcome.get("error")


def merged(base: Document, over: Document) -> Document:
    both = {**base, **over}
    return {
        key: merged(base[key], over[key]) if isinstance(base.get(key), dict) and isinstance(over.get(key), dict) else both[key]
        for key in both
    }


@pytest.mark.parametrize("version", KUBERNETES)
def test_kubernetes_takes_it(version: str, checks: Path, manifests: Path) -> None:
    for file in manifests.iterdir():
        command = (checks / "kubernetes-validate", "--strict", "--no-warn", "-k", version, file)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_checkov_finds_nothing(manifests: Path) -> None:
    folder = os.environ.get("VARVE_TEST_CHECKOV")
    if folder is None:
        pytest.skip("no checkov: make test-helm")
    command = (Path(folder) / "bin" / "checkov", "--directory", manifests, "--config-file", ROOT / "deploy" / "checkov.yaml")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_private_authority_is_mounted_in_every_container(rendered: Mapping[str, list[Document]]) -> None:
    mount = {"name": "private-ca", "mountPath": "/etc/varve-ca", "readOnly": True}
    found = list(containers(rendered["tls"]))
    assert {container["args"][0] for _, _, container in found} >= {"worker", "serve", "topics"}
    for owner, pod, container in found:
        assert mount in container["volumeMounts"], owner
        assert {"name": "private-ca", "configMap": {"name": "private-ca"}} in pod["volumes"], owner
        assert environment(container)["VARVE_KAFKA__SSL_CAFILE"].startswith("/etc/varve-ca/"), owner


def test_an_ingress_exposes_only_the_service(rendered: Mapping[str, list[Document]]) -> None:
    [ingress] = of_kind(rendered["tls"], "Ingress").values()
    [rule] = ingress["spec"]["rules"]
    [path] = rule["http"]["paths"]
    backend = path["backend"]["service"]
    service = of_kind(rendered["tls"], "Service")[backend["name"]]
    assert backend["port"] == {"name": "http"}
    assert [port["name"] for port in service["spec"]["ports"]] == ["http"]
    assert (rule["host"], ingress["spec"]["tls"][0]["hosts"]) == ("memory.example", ["memory.example"])
    assert of_kind(rendered["minimal"], "Ingress") == {}
