"""A cloud that names its services by the number of an account needs that number from the start."""

import pytest

from tests.builders import demo_intent, messages_of, write_demo

NUMBER = "regions/eu-west/account_number"


def test_a_region_without_the_number_is_refused_with_file_and_key(tmp_path):
    write_demo(tmp_path, "regions", {NUMBER: None})
    (message,) = messages_of(tmp_path)
    assert message.startswith("demo/regions.yaml, regions.eu-west.account_number: missing")


@pytest.mark.parametrize("text", ["outlast-demo-eu", "12", "7318 4209"])
def test_a_number_that_is_none_is_refused(tmp_path, text):
    write_demo(tmp_path, "regions", {NUMBER: text})
    assert any("eu-west.account_number" in message for message in messages_of(tmp_path))


def test_a_cloud_without_such_services_needs_none():
    intent = demo_intent()
    without = {row.cloud for row in intent.regions.values() if row.account_number is None}
    assert without
    assert not any(intent.facts.can(cloud, "numbered-service-agents") for cloud in without)
