"""Published goodput of a model on a card, with its conditions."""

from outlast.replica import records_for
from tests.builders import H100, facts

SHAPE, CARD = facts().model_shapes["Llama-3.1-70B"], facts().accelerators[H100]


def test_rows_are_of_the_model_and_the_card_and_measured_ones_come_first():
    rows = records_for(facts(), SHAPE, CARD)
    assert {(row.model, row.accelerator) for row in rows} == {("Llama-3.1-70B", H100)}
    kinds = [row.kind for row in rows]
    assert kinds == sorted(kinds)
    assert set(kinds) == {"measured", "modelled"}


def test_rows_can_be_kept_to_as_many_gpus_a_replica():
    assert {row.gpus_per_replica for row in records_for(facts(), SHAPE, CARD, 4)} == {4}


def test_a_pair_that_nobody_published_has_no_rows():
    assert records_for(facts(), facts().model_shapes["Kimi-K2"], CARD) == ()
