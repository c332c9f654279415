"""The engine's command as these commands call it: a stand-in that answers as the real one does."""

import json
import os
from pathlib import Path

import pytest

from outlast.lock import Applied, Counts
from outlast.previews import Engine, applied_of
from outlast.previews.engine import with_engine

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
WHOLE = Applied(lock_digest="d", counts=Counts())
POOL = {"zone": "use1-az1", "node_gpus": 8, "nodes_min": 2}


def make_engine(project: Path, answers: dict[str, object]) -> Engine:
    """An engine whose command, known only by the file that setup writes, prints an answer for its first words."""
    folder = project / "bin"
    folder.mkdir()
    cases = "".join(f"  '{words}'*) cat <<'END'\n{json.dumps(answer)}\nEND\n;;\n" for words, answer in answers.items())
    (folder / "pulumi").write_text(f'#!/bin/sh\ncase "$*" in\n{cases}  *) echo "error: no."; exit 1 ;;\nesac\n')
    (folder / "pulumi").chmod(0o755)
    (project / ".build").mkdir()
    (project / ".build" / "engine-bin").write_text(f"{folder}\n")
    return Engine(project)


def test_the_engine_of_setup_goes_first_on_the_path(tmp_path):
    (tmp_path / ".build").mkdir()
    (tmp_path / ".build" / "engine-bin").write_text("/engine/bin\n")
    assert with_engine({"PATH": "bin"}, tmp_path)["PATH"] == f"/engine/bin{os.pathsep}bin"
    assert with_engine({}, tmp_path)["PATH"] == "/engine/bin"


def test_without_setup_the_path_stays(tmp_path):
    assert with_engine({"PATH": "bin", "A": "b"}, tmp_path) == {"PATH": "bin", "A": "b"}


def test_stacks_are_listed_with_what_they_hold(tmp_path):
    found = [{"name": "demo.us-east", "resourceCount": 64}, {"name": "demo.global"}]
    engine = make_engine(tmp_path, {"stack ls": found})
    assert engine.resource_counts() == {"demo.us-east": 64, "demo.global": 0}
    assert engine.stacks() == ("demo.global", "demo.us-east")


@pytest.mark.parametrize(
    "applied",
    [
        UNKNOWN,
        {},
        {"lock_digest": "d"},
        {"lock_digest": UNKNOWN, "counts": {}},
        {"lock_digest": "d", "counts": {"node_pools": {"a": POOL | {"zone": UNKNOWN}}}},
        ["d"],
    ],
    ids=["unknown", "empty", "half", "unknown-digest", "unknown-zone", "list"],
)
def test_a_stack_whose_output_is_not_whole_counts_as_not_deployed(tmp_path, applied):
    whole = WHOLE.model_dump(mode="json")
    engine = make_engine(
        tmp_path,
        {
            "stack output --json --stack demo.global": {"applied": whole},
            "stack output --json --stack demo.eu-north": {"applied": applied},
        },
    )
    told: list[str] = []
    stacks = ("demo.global", "demo.eu-north", "demo.routing")
    assert applied_of(engine, stacks, stacks[:2], told.append) == {"demo.global": WHOLE}
    assert told == (["demo.eu-north"] if applied else [])
