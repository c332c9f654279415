"""The figures that the documents behind the seed fleet publish are found again, to the digit."""

from functools import cache

import pytest

from outlast.intent import load_intent
from outlast.intent.variants import with_variant
from outlast.planner import Figure, Trials, compare_published
from tests.builders import CONFIG, facts


@cache
def figures() -> tuple[Figure, ...]:
    """All published figures, each with the one found here."""
    seed = load_intent(CONFIG, "seed", facts())
    folder = CONFIG / "fleets" / "seed"
    variants = {name: with_variant(seed, folder, name) for name in seed.variants.variants}
    return compare_published(seed, variants, Trials())


@pytest.mark.parametrize("kind", ["demand", "plan", "optimum", "memory"])
def test_every_published_figure_is_found_again(kind):
    found = [figure for figure in figures() if figure.kind == kind]
    assert found
    assert [figure for figure in found if not figure.is_same] == []


def test_the_published_plans_are_the_four_policies_and_the_two_ways_to_serve_fine_tunes():
    # 452, 712, 620 and 744 GPUs of the policies; 240 and 24 for thirty fine-tunes
    gpus = [figure.published for figure in figures() if figure.kind == "plan" and figure.what == "GPUs"]
    assert gpus[:6] == ["452", "712", "620", "744", "240", "24"]
