"""What a fleet draws on its grants, and what is refused before planning."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from outlast.intent import Intent
from outlast.lock import Applied, AppliedFile, Lock
from outlast.operations import QuotaUse, RequestText, quota_uses, requests_for
from tests.builders import GCP_CAP, P_QUOTA, facts, make_block, make_intent, make_lock

NODE_VCPU = facts().machine_types["aws", "p5.48xlarge"].vcpu
TODAY = date(2026, 11, 30)
H100_FAMILY = "GPUS-PER-GPU-FAMILY-per-project-region/NVIDIA_H100"


def lock_of(intent: Intent, **rows: Any) -> Lock:
    """Three nodes a region; ``rows`` are merged into the first of us-east."""
    blocks = {region: make_block(region, 2, 2, *([2] * (region != "eu-west"))) for region in intent.regions}
    blocks["us-east"]["node_pools"]["gh100-1-a"] |= rows
    return make_lock(intent, blocks)


def nodes_of(count: int) -> dict[str, int]:
    return {"min": count, "expected": count, "max": count}


def deployed(**nodes: int) -> AppliedFile:
    shape = {"zone": "use1-az1", "partition": "whole", "node_devices": 8}
    rows = {key.replace("_", "-"): {**shape, "nodes_min": n, "nodes_max": n} for key, n in nodes.items()}
    return {"test.us-east": Applied.model_validate({"lock_digest": "", "counts": {"node_pools": rows}})}


def use_of(intent: Intent, lock: Lock, applied: AppliedFile | None = None, code: str = P_QUOTA) -> QuotaUse:
    """The first region's use of a quota, in nodes where it is one of vCPU."""
    return next(use for use in quota_uses(intent, lock, applied) if use.quota.quota_code == code)


def in_nodes(use: QuotaUse) -> tuple[float, float, float]:
    return (use.now / NODE_VCPU, use.after_failover / NODE_VCPU, use.peak / NODE_VCPU)


def test_a_settled_lock_needs_the_same_at_all_times():
    intent = make_intent()
    assert in_nodes(use_of(intent, lock_of(intent))) == (3, 3, 3)


def test_what_arrives_is_not_there_yet():
    intent = make_intent()
    assert in_nodes(use_of(intent, lock_of(intent, state="arriving"))) == (2, 3, 3)


def test_what_leaves_is_gone_after_the_raise():
    intent = make_intent()
    assert in_nodes(use_of(intent, lock_of(intent, state="leaving"))) == (3, 2, 3)


def test_a_pool_scaled_to_zero_needs_quota_for_its_cold_start():
    intent = make_intent()
    elastic = {"scaling": "elastic", "nodes": {"min": 0, "expected": 0.5, "max": 4}}
    assert in_nodes(use_of(intent, lock_of(intent, **elastic))) == (2, 6, 6)


def test_what_is_deployed_counts_now_instead_of_the_lock():
    intent = make_intent()
    assert in_nodes(use_of(intent, lock_of(intent), deployed(gh100_1_a=2))) == (2, 3, 4)


def test_a_region_that_deployed_nothing_needs_nothing_now():
    intent = make_intent()
    assert in_nodes(use_of(intent, lock_of(intent), {})) == (0, 3, 3)


def test_a_generation_that_the_lock_no_longer_has_counts_beside_it():
    intent = make_intent()
    assert in_nodes(use_of(intent, lock_of(intent), deployed(gh100_1_b=5))) == (5, 3, 8)


def test_caps_of_an_account_come_last_and_count_all_its_regions():
    intent = make_intent("us-east", "eu-west")
    *_, last = quota_uses(intent, lock_of(intent), None)
    assert (last.quota.is_account_wide, last.regions, last.peak) == (True, ("eu-west",), 16)


def test_a_quota_of_a_region_is_never_a_cap_of_the_account():
    for row in facts().machine_types.values():
        for capacity in ("on_demand", "reserved", "spot"):
            here = facts().quotas_for(row.cloud, row.machine_type, capacity)
            above = facts().caps_for(row.cloud, row.machine_type, capacity)
            assert not any(quota.is_account_wide for quota in here)
            assert all(quota.is_account_wide for quota in above)


def test_regions_in_one_place_share_their_quota():
    place = {"provider_region": "us-east-1", "zones": ["use1-az1", "use1-az2", "use1-az4"]}
    pool = {"gh100": {"zones": place["zones"]}}
    intent = make_intent("us-east", "us-west", regions={"regions": {"us-west": place | {"node_pools": pool}}})
    use = use_of(intent, lock_of(intent))
    assert (use.regions, use.peak / NODE_VCPU) == (("us-east", "us-west"), 6)


def short(**quota: Any) -> QuotaUse:
    intent = make_intent(capacity={"regions": {"us-east": {"quotas": {P_QUOTA: quota}}}})
    return use_of(intent, lock_of(intent))


def test_what_is_missing_is_the_peak_beyond_the_grant():
    assert short(granted="500 vCPU").missing == 3 * NODE_VCPU - 500


def test_nothing_is_missing_of_a_grant_of_exactly_the_peak():
    use = short(granted="576 vCPU")
    assert (use.missing, use.used_ratio) == (0, 1)


def test_of_no_grant_no_share_is_used():
    assert short(granted="0 vCPU").used_ratio is None


def asked(intent: Intent, lock: Lock) -> list[str]:
    return [text.command for text in requests_for(intent, quota_uses(intent, lock, None))]


def without_grants(*regions: str) -> Intent:
    nothing = {
        "us-east": {P_QUOTA: {"granted": "0 vCPU"}},
        "eu-west": {H100_FAMILY: {"granted": "0 GPUs"}, GCP_CAP: None},
    }
    quotas = {region: {"quotas": nothing[region]} for region in regions}
    return make_intent("us-east", "eu-west", capacity={"regions": quotas})


def test_a_request_names_code_region_and_a_rounded_total():
    [command, *_] = asked(intent := without_grants("us-east"), lock_of(intent))
    words = command.split()
    assert words[:3] == ["aws", "service-quotas", "request-service-quota-increase"]
    assert dict(zip(words[3::2], words[4::2], strict=True)) == {
        "--service-code": "ec2",
        "--quota-code": P_QUOTA,
        "--desired-value": "580",
        "--region": "us-east-1",
    }


def test_a_request_of_a_gpu_family_names_its_dimensions():
    [command, *_] = asked(intent := without_grants("eu-west"), lock_of(intent))
    assert "--quota-id=GPUS-PER-GPU-FAMILY-per-project-region " in command
    assert "--dimensions=region=europe-west4,gpu_family=NVIDIA_H100 " in command


def test_a_request_of_a_cap_has_no_region():
    *_, command = asked(intent := without_grants("eu-west"), lock_of(intent))
    assert "--quota-id=GPUS-ALL-REGIONS-per-project " in command
    assert "region=" not in command


def request_on(cloud: str, place: str, code: str, peak: float) -> RequestText:
    """The request for a quota in a region that lies on another cloud."""
    intent = make_intent()
    row = intent.regions["us-east"].model_copy(update={"cloud": cloud, "provider_region": place})
    regions = intent.regions_file.model_copy(update={"regions": {**intent.regions, "us-east": row}})
    [fact] = [quota for quota in facts().quotas if quota.quota_code == code]
    use = replace(short(granted="0 vCPU"), quota=fact, peak=peak)
    [text] = requests_for(replace(intent, regions_file=regions), [use])
    return text


def test_a_metric_is_asked_for_by_its_id():
    text = request_on("gcp", "us-central1", "PREEMPTIBLE_NVIDIA_L4_GPUS", 8)
    assert "--quota-id=PREEMPTIBLE-NVIDIA-L4-GPUS-per-project-region " in text.command


@pytest.mark.parametrize(
    ("code", "kind"),
    [("standardNDSH100v5Family", "dedicated"), ("lowPriorityCores", "lowPriority"), ("cores", "dedicated")],
)
def test_a_request_of_a_family_names_scope_and_kind(code, kind):
    text = request_on("azure", "polandcentral", code, 96)
    scope = "/subscriptions/111122223333/providers/Microsoft.Compute/locations/polandcentral"
    assert f"--resource-name {code} --scope {scope} " in text.command
    assert text.command.endswith(f"value=96 limit-object-type=LimitValue --resource-type {kind}")
    assert "support request" in text.form


def test_a_cloud_without_a_module_is_asked_by_the_words_of_facts():
    text = request_on("elsewhere", "here", "cores", 96)
    assert text.command == ""
    assert "96 vCPU" in text.form


@pytest.mark.parametrize(("peak", "total"), [(7, 7), (96, 96), (101, 110), (576, 580), (7488, 7500), (100000, 100000)])
def test_totals_are_rounded_up_to_two_digits(peak, total):
    assert f"value={total} " in request_on("azure", "polandcentral", "cores", peak).command


def test_what_is_requested_already_is_not_asked_again():
    intent = make_intent(
        capacity={"regions": {"us-east": {"quotas": {P_QUOTA: {"granted": "0 vCPU", "requested": "1k vCPU"}}}}}
    )
    assert asked(intent, lock_of(intent)) == []
