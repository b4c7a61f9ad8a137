import math
from pathlib import Path

from runtime.metrics import FirstTenants, Metrics


def test_only_the_first_tenants_are_named() -> None:
    tenants = FirstTenants()
    assert tenants.label("acme") == "other", "none unless it is said how many"
    tenants.most = 2
    assert [tenants.label(each) for each in ("acme", "other", "umbrella", "third", "acme")] == [
        "acme",
        "other",
        "umbrella",
        "other",
        "acme",
    ]


def test_messages_and_recalls_are_counted_by_tenant() -> None:
    metrics = Metrics()
    metrics.first_tenants.most = 1
    for tenant in ("acme", "acme", "umbrella"):
        metrics.count_message(tenant)
        metrics.count_recall(tenant)
    for name in ("varve_tenant_messages_total", "varve_tenant_recalls_total"):
        assert metrics.registry.get_sample_value(name, {"tenant": "acme"}) == 2
        assert metrics.registry.get_sample_value(name, {"tenant": "other"}) == 1


def test_a_removed_folder_leaves_the_other_metrics(tmp_path: Path) -> None:
    metrics, folder = Metrics(), tmp_path / "tables"
    folder.mkdir()
    metrics.watch_disk(folder)
    assert (metrics.registry.get_sample_value("varve_disk_free_bytes") or 0) > 0
    folder.rmdir()
    assert math.isnan(metrics.registry.get_sample_value("varve_disk_free_bytes") or 0)
    assert b"varve_disk_size_bytes NaN" in metrics.render()
