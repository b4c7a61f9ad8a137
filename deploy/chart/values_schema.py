"""``helm/varve/values.schema.json``: strict, so that Helm refuses a misspelt value before it reaches the cluster."""

from typing import Any, Final

from deploy.chart.settings_schema import config_schema, secrets_schema
from streams.stages.catalog import STAGES

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_SWITCH: Final[Schema] = {"type": "boolean"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 1}
_MAYBE: Final[Schema] = {"type": "integer", "minimum": 0}
_QUANTITY: Final[Schema] = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$"}
_LABELS: Final[Schema] = {"type": "object", "additionalProperties": {"type": "string"}}
_KUBERNETES: Final[Schema] = {"type": "object"}
"""In the form of the Kubernetes API, whose server checks it."""
_KUBERNETES_LIST: Final[Schema] = {"type": "array", "items": _KUBERNETES}
_PORT: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 65535}


def _closed(**properties: Schema) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def _text_like(pattern: str) -> Schema:
    return {"type": "string", "pattern": pattern}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


_DURATION: Final = _text_like("^[0-9]+(ms|s|m|h)$")
_PLACED: Final[dict[str, Schema]] = {"nodeSelector": _LABELS, "tolerations": _KUBERNETES_LIST, "affinity": _KUBERNETES}


def values_schema() -> Schema:
    """The whole schema."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": {
            "bundled": _bundled(),
            "config": config_schema(),
            "resources": _closed(
                requests=_closed(cpu=_QUANTITY, memory=_QUANTITY, **{"ephemeral-storage": _QUANTITY}),
                limits=_closed(cpu=_QUANTITY, memory=_QUANTITY, **{"ephemeral-storage": _QUANTITY}),
            ),
            "secrets": secrets_schema(),
            "secretKey": {**_closed(name=_text_like("^[a-z0-9.-]+$"), key=_text_like("^[-._a-zA-Z0-9]+$")), "required": ["name", "key"]},
            "stage": _stage(),
        },
        **_closed(
            **{"global": _KUBERNETES},  # Helm itself adds it.
            nameOverride=_TEXT,
            fullnameOverride=_TEXT,
            image=_image(),
            kafka=_closed(
                bootstrap=_text_like(r"^([^:,\s]+:[0-9]+(,[^:,\s]+:[0-9]+)*)?$"),
                topicPrefix=_text_like("^[a-zA-Z0-9._-]*$"),
                partitions=_COUNT,
                replicationFactor=_COUNT,
                minInsyncReplicas=_COUNT,
                createTopics=_SWITCH,
                bundled=_ref("bundled"),
            ),
            redis=_closed(url=_text_like("^((rediss?)://[^@]+)?$"), bundled=_bundled(maxMemory=_text_like("^[0-9]+(mb|gb)$"))),
            qdrant=_closed(url=_text_like("^(https?://.+)?$"), grpcPort=_PORT, bundled=_ref("bundled")),
            config=_ref("config"),
            secrets=_ref("secrets"),
            jobs=_closed(config=_ref("config"), secrets=_ref("secrets")),
            tenants=_closed(existingSecret=_TEXT, key=_text_like("^[-._a-zA-Z0-9]+$")),
            drainSeconds=_COUNT,
            staticMembership=_closed(enabled=_SWITCH, sessionTimeoutSeconds={"type": "integer", "minimum": 6, "maximum": 30}),
            stageDefaults=_ref("stage"),
            stages=_closed(**{name: _ref("stage") for name in STAGES}),
            service=_service(),
            ingress=_closed(
                enabled=_SWITCH,
                className=_TEXT,
                annotations=_LABELS,
                hosts={"type": "array", "items": {"type": "string", "minLength": 1}},
                tls=_KUBERNETES_LIST,
            ),
            canary=_closed(
                enabled=_SWITCH,
                existingSecret=_TEXT,
                key=_text_like("^[-._a-zA-Z0-9]+$"),
                resources=_ref("resources"),
                config=_ref("config"),
                **_PLACED,
            ),
            reextraction=_closed(
                enabled=_SWITCH,
                generation=_TEXT,
                replicas=_COUNT,
                resources=_ref("resources"),
                config=_ref("config"),
                secrets=_ref("secrets"),
                **_PLACED,
            ),
            disruptionBudget=_closed(enabled=_SWITCH),
            topologySpread=_closed(enabled=_SWITCH, whenUnsatisfiable=_one_of("ScheduleAnyway", "DoNotSchedule")),
            networkPolicy=_closed(
                enabled=_SWITCH,
                monitoring=_KUBERNETES,
                clients=_KUBERNETES_LIST,
                egress=_closed(enabled=_SWITCH, to=_KUBERNETES_LIST),
            ),
            extraVolumes=_KUBERNETES_LIST,
            extraVolumeMounts=_KUBERNETES_LIST,
            serviceAccount=_closed(create=_SWITCH, name=_TEXT, annotations=_LABELS),
            podAnnotations=_LABELS,
            podLabels=_LABELS,
            priorityClassName=_TEXT,
            monitoring=_closed(
                serviceMonitor=_closed(enabled=_SWITCH, interval=_DURATION, labels=_LABELS),
                prometheusRule=_closed(enabled=_SWITCH, labels=_LABELS),
                dashboards=_closed(enabled=_SWITCH, labels=_LABELS),
            ),
            keda=_closed(authenticationRef=_TEXT),
        ),
    }


def _image() -> Schema:
    return _closed(
        repository={"type": "string", "minLength": 1},
        tag=_TEXT,
        digest=_text_like("^(sha256:[0-9a-f]{64})?$"),
        pullPolicy=_one_of("Always", "IfNotPresent", "Never"),
        pullSecrets={"type": "array", "items": _TEXT},
    )


def _bundled(**more: Schema) -> Schema:
    return _closed(enabled=_SWITCH, image=_TEXT, storage=_QUANTITY, storageClass=_TEXT, resources=_ref("resources"), **more)


def _stage() -> Schema:
    return _closed(
        enabled=_SWITCH,
        replicas=_COUNT,
        resources=_ref("resources"),
        config=_ref("config"),
        secrets=_ref("secrets"),
        storage=_closed(size=_QUANTITY, storageClass=_TEXT),
        autoscaling=_closed(
            enabled=_SWITCH, minReplicas=_COUNT, maxReplicas=_MAYBE, lagThreshold=_COUNT, pollingSeconds=_COUNT, cooldownSeconds=_MAYBE
        ),
        **_PLACED,
    )


def _service() -> Schema:
    return _closed(
        enabled=_SWITCH,
        replicas=_COUNT,
        type=_one_of("ClusterIP", "NodePort", "LoadBalancer"),
        port=_PORT,
        resources=_ref("resources"),
        config=_ref("config"),
        secrets=_ref("secrets"),
        preStopSeconds=_MAYBE,
        autoscaling=_closed(enabled=_SWITCH, minReplicas=_COUNT, maxReplicas=_COUNT, targetCPU={**_COUNT, "maximum": 100}),
        **_PLACED,
    )
