"""The engine is found, built or refused; the tools on PATH are stand-ins that answer as the real ones do."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.engine import ensure as engine

ENSURE = Path(engine.__file__)
SYSTEM = "/usr/bin:/bin"

GO = """#!/bin/sh
case "$1" in
version) echo "go version go{version} linux/amd64" ;;
list) echo "$SDK" ;;
build)
    {before}
    while [ "$1" != -o ]; do shift; done
    printf '#!/bin/sh\\necho v3.274.1\\n' > "$2"
    chmod +x "$2"
    echo built >> "$SDK/builds" ;;
esac
"""


@pytest.fixture
def machine(tmp_path):
    """A folder of tools on PATH, an SDK module beside it, and an empty cache."""
    sdk = tmp_path / "sdk"
    (sdk / "python" / "cmd").mkdir(parents=True)
    (sdk / "python" / "cmd" / "pulumi-language-python-exec").write_text("exec script")
    (tmp_path / "tools").mkdir()
    return tmp_path


def tool(machine: Path, name: str, text: str) -> None:
    """Put an executable on PATH."""
    path = machine / "tools" / name
    path.write_text(text)
    path.chmod(0o755)


def go(machine: Path, *, version: str = "1.26.8", before: str = ":") -> None:
    """Put a Go on PATH whose build first does something."""
    tool(machine, "go", GO.format(version=version, before=before))


def pulumi(machine: Path, version: str) -> None:
    """Put a Pulumi CLI on PATH."""
    tool(machine, "pulumi", f"#!/bin/sh\necho v{version}\n")


def environment(machine: Path) -> dict[str, str]:
    """Only this machine's tools, home and cache."""
    folders = {"HOME": machine, "OUTLAST_CACHE": machine / "cache", "SDK": machine / "sdk"}
    return {"PATH": f"{machine / 'tools'}:{SYSTEM}", **{name: str(folder) for name, folder in folders.items()}}


def start(machine: Path, **env: str) -> subprocess.Popen[str]:
    """Start ensure.py with only the tools of this machine."""
    return subprocess.Popen(
        [sys.executable, str(ENSURE), "--print-bin"],
        env={**environment(machine), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ensure(machine: Path, **env: str) -> tuple[int | None, str, str]:
    """Run ensure.py to its end: exit code, stdout, stderr."""
    process = start(machine, **env)
    out, err = process.communicate(timeout=20)
    return process.returncode, out, err


def entries(machine: Path) -> list[str]:
    """What the cache holds beside lock files."""
    return [path.name for path in (machine / "cache" / "engine").glob("*") if path.suffix != ".lock"]


def builds(machine: Path) -> int:
    """How many programs were built."""
    return (machine / "sdk" / "builds").read_text().count("built")


def test_a_new_enough_cli_with_its_host_is_used_as_it_is(machine):
    pulumi(machine, "3.260.0")
    tool(machine, "pulumi-language-python", "")
    assert ensure(machine) == (0, f"{machine / 'tools'}\n", "")


@pytest.mark.parametrize(("version", "host"), [("3.259.9", True), ("3.280.0", False)], ids=["old", "without-host"])
def test_another_cli_is_named_in_the_refusal(machine, version, host):
    pulumi(machine, version)
    if host:
        tool(machine, "pulumi-language-python", "")
    code, out, err = ensure(machine)
    assert (code, out) == (1, "")
    assert str(machine / "tools" / "pulumi") in err


def test_a_bare_machine_is_told_what_to_install(machine):
    code, out, err = ensure(machine)
    assert (code, out) == (1, "")
    assert all(word in err for word in ("Pulumi CLI >= 3.260", "Go >= 1.26", "OUTLAST_ALLOW_INSTALLER=1"))
    assert "Traceback" not in err


def test_an_old_go_does_not_build(machine):
    go(machine, version="1.25.3")
    code, _, err = ensure(machine)
    assert code == 1
    assert "1.25.3" in err


def test_a_build_is_announced_and_made_once(machine):
    go(machine)
    code, out, err = ensure(machine)
    assert code == 0
    assert "1.6 GB" in err
    assert sorted(path.name for path in Path(out.strip()).iterdir()) == [
        "pulumi",
        "pulumi-language-python",
        "pulumi-language-python-exec",
    ]
    assert ensure(machine) == (0, out, "")
    assert builds(machine) == 2


def test_two_at_once_share_one_build(machine):
    go(machine, before="sleep 0.3")
    first, second = start(machine), start(machine)
    answers = {first.communicate(timeout=20)[0], second.communicate(timeout=20)[0]}
    assert len(answers) == 1
    assert builds(machine) == 2


def test_another_go_builds_again(machine):
    go(machine)
    ensure(machine)
    go(machine, version="1.27.0")
    ensure(machine)
    assert len(entries(machine)) == 2


def test_a_failed_build_shows_why_and_leaves_nothing(machine):
    go(machine, before="echo 'cannot reach modules' >&2; exit 3")
    code, _, err = ensure(machine)
    assert code == 1
    assert "cannot reach modules" in err
    assert entries(machine) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_an_interrupted_build_is_stopped_and_leaves_nothing(machine, number):
    go(machine, before='echo $$ > "$SDK/pid"; sleep 60')
    process = start(machine)
    pid = machine / "sdk" / "pid"
    while not (pid.exists() and pid.read_text().strip()):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert entries(machine) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_the_leftover_of_a_killed_run_does_not_matter(machine):
    go(machine)
    key = Path(ensure(machine)[1].strip()).parent
    key.rename(key.with_name(f"{key.name}.partial"))
    code, out, _ = ensure(machine)
    assert code == 0
    assert Path(out.strip()).parent == key
    assert entries(machine) == [key.name]


@pytest.mark.parametrize(
    ("script", "name"), [("mkdir -p {bin}; touch {bin}/pulumi-language-python", "installer-"), ("exit 9", "")]
)
def test_the_installer_runs_when_asked_for_and_go_follows_its_failure(machine, monkeypatch, script, name):
    go(machine)
    installer = machine / "installer.sh"
    installer.write_text('while [ "$1" != --install-root ]; do shift; done\n' + script.format(bin='"$2/bin"'))
    monkeypatch.setattr(engine, "INSTALLER", installer.as_uri())
    for variable, value in {"OUTLAST_ALLOW_INSTALLER": "1", **environment(machine)}.items():
        monkeypatch.setenv(variable, value)
    assert engine.ensure().parent.name.startswith(name)
    assert len(entries(machine)) == 1


def test_a_cache_that_cannot_be_written_is_a_plain_error(machine):
    go(machine)
    (machine / "cache").write_text("a file where a folder should be")
    code, _, err = ensure(machine)
    assert code == 1
    assert "OUTLAST_CACHE" in err
    assert "Traceback" not in err
