"""A real broker with TLS, user names, passwords and ACLs."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.protocol.admin import CreateAclsRequest
from pydantic import SecretStr

from runtime.kafka import client_options
from runtime.settings import KafkaSettings
from tests.security_page import recipe
from varve.embedded.kafka import EmbeddedKafka
from varve.embedded.ports import HOST, listens

TLS: Final = Path(__file__).parents[1] / "tls"
BROKER: Final = "broker"
USERS: Final = (BROKER, "varve-admin", "varve-flow", "varve-service", "varve-operating", "app", "stranger")

_RESOURCES: Final = {"topic": 2, "group": 3, "cluster": 4, "transactional-id": 5}
_PATTERNS: Final = {"literal": 3, "prefixed": 4}
_OPERATIONS: Final = {"All": 2, "Read": 3, "Write": 4, "Create": 5, "Delete": 6, "Alter": 7, "Describe": 8, "DescribeConfigs": 10}
_PERMISSIONS: Final = {"deny": 2, "allow": 3}


class SecuredKafka(EmbeddedKafka):
    """The embedded broker with TLS, with SASL/PLAIN on both listeners and the authorizer that `docs/operate/security.md` names."""

    def as_user(self, user: str, **settings: Any) -> KafkaSettings:
        """The settings of a process that has this name."""
        return KafkaSettings(
            **{"replication_factor": 1, "min_insync_replicas": 1, "partitions": 2, "bootstrap": self.bootstrap, **settings},
            security_protocol="SASL_SSL",
            sasl_mechanism="PLAIN",
            sasl_username=user,
            sasl_password=SecretStr(_password(user)),
            ssl_cafile=TLS / "authority.pem",
        )

    async def ready(self) -> bool:
        """Whether it takes connections; its storage is small, so that it then answers."""
        return listens(self.port)

    def _properties(self) -> dict[str, str | int]:
        users = " ".join(f'user_{user}="{_password(user)}"' for user in USERS)
        login = (
            f'org.apache.kafka.common.security.plain.PlainLoginModule required username="{BROKER}" password="{_password(BROKER)}" {users};'
        )
        listeners = f"SASL_SSL://{HOST}:{self.port},CONTROLLER://{HOST}:{self._controller_port}"
        return super()._properties() | {
            "listeners": listeners,
            "advertised.listeners": f"SASL_SSL://{HOST}:{self.port}",
            "listener.security.protocol.map": "SASL_SSL:SASL_SSL,CONTROLLER:SASL_SSL",
            "inter.broker.listener.name": "SASL_SSL",
            "sasl.enabled.mechanisms": "PLAIN",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "sasl.mechanism.controller.protocol": "PLAIN",
            "listener.name.sasl_ssl.plain.sasl.jaas.config": login,
            "listener.name.controller.plain.sasl.jaas.config": login,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(TLS / "server.pem"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(TLS / "authority.pem"),
            "super.users": f"User:{BROKER}",
            **dict(line.split("=", 1) for line in recipe("properties")),
        }


@dataclass(frozen=True, slots=True)
class Acl:
    """One permission."""

    resource: str
    name: str
    pattern: str
    permission: str
    principal: str
    operation: str

    @property
    def request(self) -> CreateAclsRequest:
        """The request that creates it. Kafka's own command for it is in a jar that the embedded broker does not have."""
        return CreateAclsRequest(
            _RESOURCES[self.resource],
            self.name,
            _PATTERNS[self.pattern],
            self.principal,
            "*",
            _OPERATIONS[self.operation],
            _PERMISSIONS[self.permission],
        )


def acls() -> Iterator[Acl]:
    """The permissions that the page's commands give."""
    for line in recipe("sh acls"):
        # The cluster is the only resource without a name.
        command, *arguments = shlex.split(line.replace("--cluster", "--cluster kafka-cluster"))
        assert (command, arguments.pop(0)) == ("$ACLS", "--add")
        options: dict[str, list[str]] = {}
        for option, value in zip(arguments[::2], arguments[1::2], strict=True):
            options.setdefault(option.removeprefix("--"), []).append(value)
        ((permission, principal),) = [
            (each, options.pop(f"{each}-principal")[0]) for each in _PERMISSIONS if f"{each}-principal" in options
        ]
        operations = options.pop("operation")
        (pattern,) = options.pop("resource-pattern-type", ["literal"])
        ((resource, (name,)),) = options.items()
        yield from (Acl(resource, name, pattern, permission, principal, operation) for operation in operations)


async def create_acls(kafka: KafkaSettings) -> None:
    """Gives the page's permissions."""
    admin = AIOKafkaAdminClient(**client_options(kafka))
    await admin.start()
    try:
        for acl in acls():
            response = await admin._send_request(acl.request)
            assert [error for error, _ in response.creation_responses] == [0], response
    finally:
        await admin.close()


def _password(user: str) -> str:
    return f"{user}-secret"
