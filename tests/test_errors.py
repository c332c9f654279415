"""Messages: where, what, got and allowed, and what to do."""

from outlast.errors import ConfigError, OutlastError, Problem, did_you_mean, listed


def test_a_message_says_where_what_got_allowed_and_do():
    problem = Problem(where="fleet.yaml, router", what="unknown router", got="'x'", allowed="even", do="Choose one")
    assert str(problem) == "fleet.yaml, router: unknown router (got 'x'; allowed even). Choose one."


def test_a_message_leaves_out_what_is_not_known():
    assert str(Problem(where="a", what="b")) == "a: b."
    assert str(Problem(where="a", what="b", got="c")) == "a: b (got c)."


def test_a_question_ends_as_a_question():
    assert str(Problem(where="a", what="b", do=did_you_mean("roter", ["router"]))).endswith("Did you mean 'router'?")


def test_a_nearest_word_is_found_whatever_its_case():
    assert did_you_mean("EU_RESIDENT", ["open", "eu-resident"]) == "Did you mean 'eu-resident'"


def test_nothing_near_asks_nothing():
    assert did_you_mean("mars", ["us-east", "eu-west"]) == ""


def test_an_error_holds_each_problem_once_in_order():
    first, second = Problem(where="b", what="x"), Problem(where="a", what="y")
    error = ConfigError([first, second, first])
    assert error.problems == (first, second)
    assert str(error) == "b: x.\na: y."


def test_an_error_takes_one_problem():
    assert OutlastError(Problem(where="a", what="b")).problems[0].where == "a"


def test_a_long_list_is_cut_and_counted():
    assert listed(f"w{n:02}" for n in range(15)).endswith("w11 and 3 more")


def test_an_empty_list_is_a_word():
    assert listed([]) == "none"
