"""What a running step shows without a terminal."""

from types import SimpleNamespace

from outlast.cli import printing


def test_a_step_without_a_terminal_gives_a_sign_of_life_in_words(monkeypatch, capsys):
    now = iter([0.0, 1.0, 11.0, 12.0, 22.0, 23.0])
    monkeypatch.setattr("outlast.cli.printing.time", SimpleNamespace(monotonic=lambda: next(now)))
    with printing.step("up demo.us-east") as step:
        step.follow(" +  aws:ec2:Vpc us-east-network create ")
        step.follow("@ updating....")
        step.follow(" +  aws:ec2:Vpc us-east-network creating (0s) ")
        step.follow("    pools : {}")
    assert capsys.readouterr().out.splitlines() == [
        "  … up demo.us-east: 11 s, 1 resource, previewing Vpc us-east-network",
        "  … up demo.us-east: 22 s, 1 resource, creating Vpc us-east-network",
        "✔ up demo.us-east  (23.0 s)",
    ]


def test_a_step_that_has_met_no_resource_shows_its_time(monkeypatch, capsys):
    now = iter([0.0, 10.0, 10.5])
    monkeypatch.setattr("outlast.cli.printing.time", SimpleNamespace(monotonic=lambda: next(now)))
    with printing.step("up demo.us-east") as step:
        step.follow("Loading policy packs...: starting")
        step.failed = True
    assert capsys.readouterr().out.splitlines() == ["  … up demo.us-east: 10 s", "✘ up demo.us-east  (10.5 s)"]


def test_a_step_tells_how_far_it_has_come_now_and_then(monkeypatch, capsys):
    now = iter([0.0, 1.0, 11.0, 12.0])
    monkeypatch.setattr("outlast.cli.printing.time", SimpleNamespace(monotonic=lambda: next(now)))
    with printing.step("price the rules") as step:
        step.tell("1 plan made")
        step.tell("7 plans made")
    told = capsys.readouterr().out.splitlines()
    assert told == ["  … price the rules: 11 s, 7 plans made", "✔ price the rules  (12.0 s)"]


def test_messages_are_indented_and_blank_lines_stay_blank(capsys):
    printing.messages(["one\n\ntwo"])
    assert capsys.readouterr().err == "  one\n\n  two\n"


def test_a_table_that_does_not_fit_breaks_no_name_and_no_number(monkeypatch, capsys):
    monkeypatch.setattr("outlast.cli.printing._WIDTH", 40)
    name, number = "GPUS-PER-GPU-FAMILY-per-project-region", "1,234,567.89"
    printing.table(("quota", "says", "USD/h"), [(name, "a text of several words that wraps", number)], right=(2,))
    out = capsys.readouterr().out
    assert name in out
    assert number in out
    assert "several words" not in out


def test_a_table_keeps_its_last_column_when_it_does_not_fit(monkeypatch, capsys):
    monkeypatch.setattr("outlast.cli.printing._WIDTH", 20)
    printing.table(("region", "pool", ""), [("us-east-region", "chat-large", printing.GOOD)])
    assert capsys.readouterr().out.splitlines()[-1].endswith(printing.GOOD)


def test_no_line_of_a_table_ends_with_blanks(capsys):
    printing.table(("region", "pool"), [("us-east", "chat"), ("eu-west", "chat-with-a-longer-name")])
    lines = capsys.readouterr().out.splitlines()
    assert lines == [line.rstrip() for line in lines]
