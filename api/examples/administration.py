"""Examples of changes of the control log: tenants, keys, webhooks, generations, legal holds and re-extractions."""

from typing import Final

from api.examples.values import CHANGED, KEY, SUBJECT, TIME, Example

_NEW_KEY: Final = {**CHANGED, "id": "k2", "key": "vk_example"}
_NEW_WEBHOOK: Final = {**CHANGED, "id": "wh_5f2c9a01b7e4d836", "secret": "whsec_example"}
_TENANT: Final = {
    "method": "vikingmem",
    "id": "acme",
    "revision": 7,
    "schema": "companion@1",
    "state": "active",
    "weight": 1.0,
    "budget": {"hard_tokens": 5_000_000},
    "quota": {},
    "in_force": {
        "budget": {
            "soft_tokens": None,
            "hard_tokens": 5_000_000,
            "soft_cost": None,
            "hard_cost": None,
            "policy": "wait",
            "off_peak_start_hour": None,
            "off_peak_hours": 8,
            "reextraction_share": 0.5,
        },
        "quota": {
            "messages_per_second": 100.0,
            "bytes_per_second": None,
            "recalls_per_second": None,
            "concurrent_recalls": None,
            "burst_s": 10.0,
            "memories": None,
        },
    },
    "signing": {},
    "messages": {"time_zone": "Europe/Oslo"},
    "retention": {"messages": "1y"},
    "redaction": {"kinds": ["email", "phone"]},
    "trust": {"sources": {"tool:browser": "untrusted"}},
    "keys": 1,
    "generation": "",
    "generations": [],
}
_TRUST: Final = {
    "tenant": "acme",
    "sources": {"app:crm": "trusted", "tool:*": "untrusted"},
    "entities_from": "normal",
    "version": 1764234000000,
    "changed_at": TIME,
    "is_applied": True,
}
_HOLD: Final = {
    "tenant": "acme",
    "subject": SUBJECT,
    "reason": "case 2026-17",
    "placed_at": TIME,
    "placed_by": "operator 3f2a9c01b7e4 counsel",
    "released_at": None,
    "released_by": None,
    "release_reason": "",
}
_SIZE: Final = {
    "windows": 4120,
    "messages": 30215,
    "calls": 4205,
    "prompt_tokens": 8650300,
    "cached_tokens": 5190000,
    "completion_tokens": 1240100,
    "cost": 2.31,
    "duration_s": 4205.0,
}
_REEXTRACTION: Final = {
    "generation": "v2",
    "tenants": ["acme"],
    "state": "running",
    "reason": "",
    "started_at": TIME,
    "started_by": "operator 3f2a9c01b7e4 on-call",
    "since": None,
    "budget": {"tokens": 12000000, "cost": None, "calls_per_minute": 60},
    "estimate": _SIZE,
}

ADMINISTRATION: Final[dict[str, Example]] = {
    "list_tenants": Example({"tenants": [_TENANT], "next": None, "total": 1}),
    "get_tenant": Example(_TENANT),
    "create_tenant": Example(_NEW_KEY, {"id": "acme", "schema": "companion", "label": "backend"}),
    "update_tenant": Example(CHANGED, {"weight": 2.0, "quota": {"messages_per_second": 50}}),
    "delete_tenant": Example({**CHANGED, "settled": True}),
    "update_signing": Example({**CHANGED, "required_since": TIME, "keys": [], "key": None}, {"tenant": "acme", "required": True}),
    "list_api_keys": Example({"keys": [{**KEY, "scopes": ["ingest", "recall"], "user": None}], "uses_known": True}),
    "create_api_key": Example(_NEW_KEY, {"tenant": "acme", "label": "backend", "scopes": ["recall"], "user": "ann"}),
    "rotate_api_key": Example(_NEW_KEY, {"tenant": "acme", "overlap_s": 3600}),
    "revoke_api_key": Example({**CHANGED, "settled": True}),
    "list_webhooks": Example(
        {
            "webhooks": [
                {
                    "id": "wh_5f2c9a01b7e4d836",
                    "url": "https://hooks.example.com/varve",
                    "label": "crm",
                    "kinds": ["event"],
                    "content": True,
                    "created": TIME,
                    "secrets": [{"id": "9c1e0f7a44d2b6e8", "until": None}],
                }
            ]
        }
    ),
    "create_webhook": Example(_NEW_WEBHOOK, {"tenant": "acme", "url": "https://hooks.example.com/varve", "kinds": ["event"]}),
    "rotate_webhook": Example(_NEW_WEBHOOK, {"tenant": "acme", "overlap_s": 3600}),
    "delete_webhook": Example({**CHANGED, "settled": True}),
    "list_webhook_dead_letters": Example(
        {
            "dead_letters": [
                {
                    "id": "msg_0f6a5d2c9b7e41388d0c5a6b1e2f3a4d",
                    "event": "memory.upserted",
                    "memory_id": "0d0b9f3e-8f51-5f0a-9f0e-6f5a0f6f2a11",
                    "changed_at": TIME,
                    "attempts": 12,
                    "problem": "status 500",
                    "dead_at": TIME,
                    "redriven": 0,
                }
            ],
            "dead": 1,
            "pending": 0,
        }
    ),
    "redrive_webhook": Example({"redriven": 1}, {"tenant": "acme"}),
    "try_webhook": Example({"id": "msg_0f6a5d2c9b7e41388d0c5a6b1e2f3a4d", "delivered": False, "problem": "status 404"}, {"tenant": "acme"}),
    "list_operator_keys": Example({"keys": [{**KEY, "role": "admin"}], "uses_known": True}),
    "create_operator_key": Example(_NEW_KEY, {"label": "on-call", "role": "operator"}),
    "delete_operator_key": Example({**CHANGED, "settled": True}),
    "list_generations": Example({"generations": [{"name": "", "schema": "companion@1", "method": "vikingmem", "live": True}]}),
    "create_generation": Example(CHANGED, {"tenant": "acme", "name": "v2", "schema": "companion@2"}),
    "switch_generation": Example({**CHANGED, "windows_left": 0}, {"tenant": "acme", "name": "v2"}),
    "drop_generation": Example({**CHANGED, "drops": 1, "retracted": 214}, {"tenant": "acme", "name": "v1"}),
    "get_trust": Example(_TRUST),
    "update_trust": Example(
        {**CHANGED, **_TRUST, "is_applied": False}, {"tenant": "acme", "sources": {"app:crm": "trusted", "tool:*": "untrusted"}}
    ),
    "list_holds": Example({"holds": [_HOLD]}),
    "create_hold": Example({**CHANGED, "settled": True, "subject": SUBJECT}, {"tenant": "acme", "user": "ann", "reason": "case 2026-17"}),
    "delete_hold": Example({**CHANGED, "subject": SUBJECT}),
    "estimate_reextraction": Example(
        {**_SIZE, "model": "small-model", "basis": "the averages of 2,140 earlier calls", "tenants": {"acme": _SIZE}},
        {"tenants": ["acme"], "calls_per_minute": 60},
    ),
    "list_reextractions": Example({"reextractions": [_REEXTRACTION]}),
    "get_reextraction": Example(
        {
            **_REEXTRACTION,
            "workers": 1,
            "waits_for_erasure": False,
            "waits_for_budget": [
                {
                    "tenant": "acme",
                    "until": "2026-11-02T00:00:00+00:00",
                    "reason": "tenant 'acme' has used 2,480,200 of the 2,500,000 tokens that re-extractions may use today "
                    "(VARVE_BUDGET__REEXTRACTION_SHARE of its daily budget), and the next call may use 21,000",
                }
            ],
            "yields_to": None,
            "caught_up": False,
            "share": 0.25,
            "windows": 4120,
            "windows_left": 3090,
            "parked": 0,
            "left_s": 3150.0,
            "calls": 1055,
            "tokens": 2480200,
            "cost": 0.58,
            "tokens_left": 9519800,
            "cost_left": None,
            "advice": "",
        }
    ),
    "create_reextraction": Example(
        {**CHANGED, "state": "running", "reason": ""},
        {"generation": "v2", "tenants": ["acme"], "budget_tokens": 12000000, "calls_per_minute": 60, "confirmed": True},
    ),
    "pause_running_reextraction": Example({**CHANGED, "state": "paused", "reason": "paused by operator 3f2a9c01b7e4 on-call"}),
    "resume_paused_reextraction": Example({**CHANGED, "state": "running", "reason": ""}, {"budget_tokens": 20000000}),
    "cancel_unfinished_reextraction": Example({**CHANGED, "state": "cancelling", "reason": ""}),
    "get_control_position": Example({"position": 412, "reached": True, "age_s": 0.4, "lease_s": 30.0}),
    "apply_tenants_file": Example(
        {**CHANGED, "settled": True, "documents": 1, "differences": ["tenant/acme: weight 1.0 -> 2.0"]},
        {"tenants": [{"id": "acme", "schema": "companion", "weight": 2.0}]},
    ),
    "export_tenants_file": Example({"tenants": [{"id": "acme", "schema": "companion@1", "keys": []}], "operators": []}),
    "list_audit_records": Example(
        {
            "records": [
                {
                    "action": "tenant add",
                    "by": "operator k1 on-call",
                    "at": TIME,
                    "subject": "tenant/acme",
                    "before": None,
                    "after": {"id": "acme"},
                }
            ],
            "total": 1,
        }
    ),
    "verify_audit": Example({"changes": 12, "records": 19, "digest": SUBJECT, "problems": []}),
}
