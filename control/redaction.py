"""The redaction policies of tenants, for the parts that call models."""

from control.errors import ControlLogBehindError, UnknownTenantError
from control.tenants import TenantDirectory
from memory.redaction import RedactionPolicy
from models.errors import TransientModelError


class TenantRedaction:
    """The redaction policy of each tenant.

    Args:
        tenants: The known tenants.
    """

    def __init__(self, tenants: TenantDirectory) -> None:
        self._tenants = tenants

    def of(self, tenant: str) -> RedactionPolicy:
        """A tenant's policy.

        Raises:
            TransientModelError: It is not known now: nothing is sent until it is. So it is if the tenant was removed during the work,
                which ends when it is tried again.
        """
        try:
            return self._tenants.get(tenant).redaction
        except (UnknownTenantError, ControlLogBehindError) as error:
            raise TransientModelError(f"the redaction policy of tenant {tenant!r} is not known now: {error}") from error
