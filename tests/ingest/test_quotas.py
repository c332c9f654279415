"""Quotas as the clouds' command lines list them."""

import json
from datetime import date

import pytest

from outlast.errors import ConfigError
from outlast.facts import load_facts
from outlast.ingest.quotas import read_quotas
from outlast.ingest.quotas.amounts import Wanted, readers
from outlast.intent import load_intent
from tests.builders import P_QUOTA, demo_intent, facts
from tests.ingest.conftest import FIXTURES

AWS, INFO, REGION, AZURE = (
    "aws-service-quotas-2019-06-24.json",
    "gcp-quotas-info-v1.json",
    "gcp-region-v1.json",
    "azure-vm-usage-2024-07-01.json",
)
FAMILY = "GPUS-PER-GPU-FAMILY-per-project-region/NVIDIA_H100"
DAY = date(2026, 11, 30)


def read(path, region):
    return read_quotas(path, region, demo_intent(), DAY)


def listing(name):
    return json.loads((FIXTURES / name).read_text())


def granted(found):
    return {quota.code: quota.after for quota in found.quotas}


def test_what_is_listed_is_compared_with_what_stands():
    (quota,) = read(FIXTURES / AWS, "us-east").quotas
    assert (quota.code, quota.before, quota.after) == (P_QUOTA, 12000, 4608)
    assert quota.changed
    assert quota.needed


def test_quotas_by_family_take_the_row_of_the_region():
    found = read(FIXTURES / INFO, "eu-west")
    assert granted(found) == {FAMILY: 640, "NVIDIA_L4_GPUS": 16}
    assert found.missing == ()


def test_a_described_region_says_what_it_lacks():
    found = read(FIXTURES / REGION, "eu-west")
    assert granted(found) == {"NVIDIA_L4_GPUS": 16, "PREEMPTIBLE_NVIDIA_H100_GPUS": 24}
    assert found.missing == (FAMILY,)


def test_numbers_as_text_are_read_and_an_unnamed_place_is_said():
    codes = {quota.quota_code for quota in facts().quotas if quota.cloud == "azure"}
    wanted = Wanted(provider_region="westeurope", account="0000", codes=codes)
    assert readers()["azure"].recognises(listing(AZURE))
    found = readers()["azure"].amounts(listing(AZURE), wanted, "f")
    assert found.granted == {"standardNDSH100v5Family": 960, "lowPriorityCores": 0, "cores": 100}
    assert any("westeurope" in note for note in found.notes)


@pytest.mark.parametrize("cloud", ["aws", "gcp", "azure"])
def test_each_reader_knows_only_its_own_listing(cloud):
    owners = {AWS: "aws", INFO: "gcp", REGION: "gcp", AZURE: "azure"}
    for name, owner in owners.items():
        assert readers()[cloud].recognises(listing(name)) == (owner == cloud)


def changed_quota(**changes):
    document = listing(AWS)
    document["Quotas"][0] |= changes
    return document


BAD_AWS = {
    "another-region": changed_quota(QuotaArn="arn:aws:servicequotas:us-west-2:111122223333:ec2/L-417A185B"),
    "another-account": changed_quota(QuotaArn="arn:aws:servicequotas:us-east-1:999999999999:ec2/L-417A185B"),
    "negative": changed_quota(Value=-1),
    "words": changed_quota(Value="many"),
    "no-value": changed_quota(Value=None),
    "another-service": changed_quota(ServiceCode="eks"),
    "a-page": listing(AWS) | {"NextToken": "abc"},
    "two-values": {"Quotas": [listing(AWS)["Quotas"][0], changed_quota(Value=5)["Quotas"][0]]},
    "no-gpus": {"Quotas": [listing(AWS)["Quotas"][2]]},
    "nothing": {"Quotas": []},
    "not-a-list": {"Quotas": 3},
    "strings": {"Quotas": ["L-417A185B"]},
    "another-cloud": listing(INFO),
    "another-tool": {"status": "success"},
    "empty-list": [],
}


@pytest.mark.parametrize("name", BAD_AWS)
def test_a_listing_that_does_not_fit_is_refused(source, name):
    with pytest.raises(ConfigError):
        read(source(BAD_AWS[name]), "us-east")


def test_a_listing_of_another_cloud_is_told_by_name(source):
    with pytest.raises(ConfigError, match=r"no listing of aws but of gcp.*aws service-quotas"):
        read(source(listing(INFO)), "us-east")


@pytest.mark.parametrize(
    "document",
    [
        listing(REGION) | {"name": "us-central1"},
        listing(REGION) | {"selfLink": "https://example.org/compute/v1/projects/another/regions/europe-west4"},
        listing(REGION) | {"quotas": [{"metric": "NVIDIA_L4_GPUS", "limit": "NaN"}]},
        listing(REGION) | {"quotas": None},
        [listing(INFO)[0] | {"name": "projects/another/locations/global/services/compute.googleapis.com"}],
        [listing(INFO)[0] | {"dimensionsInfos": [3]}],
        [listing(INFO)[2]],
    ],
    ids=["region", "project", "nan", "none", "project-of-infos", "broken", "no-gpus"],
)
def test_a_listing_of_another_place_or_without_sense_is_refused(source, document):
    with pytest.raises(ConfigError):
        read(source(document), "eu-west")


def test_no_limit_is_left_as_it_stands(source):
    document = listing(INFO)
    document[1]["dimensionsInfos"][0]["details"] = {"value": "-1"}
    found = read(source(document), "eu-west")
    assert granted(found) == {FAMILY: 640}
    assert any("NVIDIA_L4_GPUS" in note for note in found.notes)


def test_an_unknown_region_is_refused():
    with pytest.raises(ConfigError, match="us-east"):
        read(FIXTURES / AWS, "us-eats")


@pytest.mark.usefixtures("unchanged")
def test_without_write_nothing_is_written_and_both_amounts_are_shown(outlast):
    code, out, _ = outlast("import", "quotas", "demo", FIXTURES / AWS, "--region", "us-east")
    assert code == 0
    assert "12,000" in out
    assert "4,608" in out


def test_write_changes_the_amount_and_its_day_and_keeps_the_rest(outlast, config):
    path = config / "fleets" / "demo" / "capacity.yaml"
    before = path.read_text()
    arguments = ("quotas", "demo", FIXTURES / AWS, "--region", "us-east", "--as-of", "2026-11-29", "--write")
    code, _, err = outlast("import", *arguments)
    assert (code, err) == (0, "")
    assert len(set(before.splitlines()) - set(path.read_text().splitlines())) == 1
    quota = load_intent(config, "demo", load_facts(config)).holdings("us-east").quotas[P_QUOTA]
    assert (quota.granted, quota.as_of) == (4608, date(2026, 11, 29))


def test_write_adds_quotas_that_are_not_there(outlast, config):
    code, _, err = outlast("import", "quotas", "demo", FIXTURES / INFO, "--region", "eu-west", "--write")
    assert (code, err) == (0, "")
    held = load_intent(config, "demo", load_facts(config)).holdings("eu-west").quotas
    added = {code: held[code].granted for code in (FAMILY, "NVIDIA_L4_GPUS")}
    assert added == {FAMILY: 640, "NVIDIA_L4_GPUS": 16}
