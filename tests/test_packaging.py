"""What is declared, what is locked, and what the lock may not hold."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WANTED = [line for line in (ROOT / "requirements.in").read_text().splitlines() if line and not line.startswith("#")]
LOCK = (ROOT / "requirements.lock").read_text()
LOCKED = dict(re.findall(r"^(\S+)==(\S+) \\\n +--hash=sha256:", LOCK, re.MULTILINE))


def test_what_the_package_declares_is_wanted_with_the_same_pin():
    assert set(PROJECT["project"]["dependencies"]) <= set(WANTED)


def test_what_the_build_needs_is_wanted():
    assert set(PROJECT["build-system"]["requires"]) <= set(WANTED)


def test_everything_wanted_is_locked_as_wanted():
    for line in WANTED:
        name, _, version = line.partition("==")
        assert name in LOCKED
        assert version in ("", LOCKED[name])


def test_every_locked_package_has_a_hash():
    assert len(LOCKED) == len(re.findall(r"^\S+==", LOCK, re.MULTILINE))


def test_protobuf_is_the_one_that_pulumi_policy_and_the_grpc_stubs_share():
    assert LOCKED["protobuf"].startswith("5.29.")


def test_the_lock_names_no_index_and_no_path():
    assert re.findall(r"^.*(?:://|--(?:index-url|extra-index-url|find-links|trusted-host)| @ ).*$", LOCK, re.M) == []
