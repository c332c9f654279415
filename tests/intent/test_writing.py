"""Files are written whole or not at all: when the machine refuses, and when somebody interrupts."""

from pathlib import Path

import pytest

from outlast.errors import EnvironmentProblem
from outlast.intent.writing import write_all


def test_files_are_written_all_or_none(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("before")
    replace = Path.replace

    def breaks(self, target):
        if target.name == "second":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", breaks)
    with pytest.raises(EnvironmentProblem):
        write_all({first: "after", second: "after"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"first": "before"}


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    link.symlink_to(target)
    write_all({link: "after"})
    assert link.is_symlink()
    assert target.read_text() == "after"


@pytest.mark.parametrize("step", ["write_text", "replace"])
def test_an_interrupted_command_leaves_the_file_as_it_was_and_nothing_beside_it(step, tmp_path, monkeypatch):
    path = tmp_path / "plan.lock.yaml"
    path.write_text("before")
    whole = getattr(Path, step)

    def interrupted(self, *args, **options):
        whole(self, *args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_all({path: "after"})
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"plan.lock.yaml": "before"}
