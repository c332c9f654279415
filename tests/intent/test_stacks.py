"""Names of stacks are taken apart, and wrong ones are answered with the right one."""

import pytest

from outlast.errors import ConfigError
from outlast.intent.stacks import StackName, check_region, parse
from tests.builders import demo_intent


@pytest.mark.parametrize(
    ("text", "kind", "region"),
    [("demo.global", "global", None), ("demo.routing", "routing", None), ("demo.us-east", "region", "us-east")],
)
def test_a_name_is_taken_apart_and_put_together(text, kind, region):
    assert parse(text) == StackName(fleet="demo", kind=kind, region=region)
    assert str(parse(text)) == text


@pytest.mark.parametrize("text", ["demo", "demo.", ".us-east", "demo.us.east", ""])
def test_another_form_is_refused(text):
    with pytest.raises(ConfigError, match="not a stack's name"):
        parse(text)


def test_an_unknown_region_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match=r"fleet 'demo' has no 'us-eats' .*Did you mean 'us-east'"):
        check_region(parse("demo.us-eats"), demo_intent())
