"""Provide a Pulumi CLI with its Python language host, and say where it is.

Runs on a bare Python 3.11, before any environment exists. In this order: the CLI on PATH when it is new enough; the
official installer, only when asked for; a build from the Go modules pinned in ``go.mod``, kept in a cache outside the
repository under a key made of everything that goes into it. Progress goes to stderr, so that the only line on stdout is
the answer.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
SDK = "github.com/pulumi/pulumi/sdk/v3"
CLI = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
HOST = "pulumi-language-python"
EXEC = "pulumi-language-python-exec"
INSTALLER = "https://get.pulumi.com"
MINIMUM = (3, 260, 0)
"""Oldest CLI that talks to the Python packages pinned in requirements.lock."""
BEAT_S = 10.0
"""Seconds between progress lines when nobody watches a terminal."""

Version = tuple[int, int, int]

EPILOG = """\
environment:
  OUTLAST_CACHE              where built tools are kept (default: ${XDG_CACHE_HOME:-~/.cache}/outlast)
  OUTLAST_ALLOW_INSTALLER=1  may download and run Pulumi's installer script; never done unasked
"""


class EngineError(Exception):
    """No engine can be had; the message says what to do."""


def main() -> int:
    """Print the engine's folder, or one line on what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--print-bin", action="store_true", help="print the folder to put on PATH as the last line")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, interrupt)
    try:
        bin_dir = ensure()
    except EngineError as problem:
        say(f"engine: {problem}")
        return 1
    except OSError as problem:
        say(f"engine: {problem}. Set OUTLAST_CACHE to a folder that can be written and has 4 GB free.")
        return 1
    except KeyboardInterrupt:
        say("engine: interrupted; the build was stopped and nothing half-built is left.")
        return 130
    if args.print_bin:
        print(bin_dir)
    return 0


def ensure() -> Path:
    """Find, install or build the engine.

    Raises:
        EngineError: If no way is open.
    """
    installed, found = on_path()
    if installed:
        return installed
    if os.environ.get("OUTLAST_ALLOW_INSTALLER") == "1":
        try:
            return install()
        except EngineError as problem:
            say(f"engine: {problem} Building from Go modules instead.")
    go, go_found = usable_go()
    if go:
        return build(go, go_found)
    msg = (
        f"no usable Pulumi (found: {found}; {go_found}). Install one of: the Pulumi CLI >= {dotted(MINIMUM)} with its "
        f"Python language host, or Go >= {dotted(go_minimum())} to build both from source; or set "
        "OUTLAST_ALLOW_INSTALLER=1 to let this script download and run Pulumi's own installer."
    )
    raise EngineError(msg)


def on_path() -> tuple[Path | None, str]:
    """Look for a CLI that is new enough and has its host; the text says what was found."""
    cli = shutil.which("pulumi")
    if not cli:
        return None, "no pulumi on PATH"
    version = version_of([cli, "version"])
    if version is None:
        return None, f"{cli} does not answer 'pulumi version'"
    if version < MINIMUM:
        return None, f"{cli} is {dotted(version)}"
    if not (Path(cli).resolve().with_name(HOST).exists() or shutil.which(HOST)):
        return None, f"{cli} has no {HOST} beside it or on PATH"
    return Path(cli).absolute().parent, f"pulumi {dotted(version)}"


def usable_go() -> tuple[str | None, str]:
    """Look for a Go toolchain that can build ``go.mod``; the text is its version line or what is wrong."""
    go = shutil.which("go")
    if not go:
        return None, "no go on PATH"
    version = version_of([go, "version"])
    if version is None:
        return None, f"{go} does not answer 'go version'"
    if version < go_minimum():
        return None, f"{go} is {dotted(version)}"
    return go, output([go, "version"])


def install() -> Path:
    """Run Pulumi's installer into the cache.

    Raises:
        EngineError: If it cannot be fetched or fails.
    """
    version = sdk_version()
    with locked(f"installer-{version}") as home:
        if not (home / "bin" / HOST).exists():
            say(f"engine: downloading Pulumi {version} with its official installer from {INSTALLER} (about 150 MB).")
            partial = fresh(home)
            script = partial / "install.sh"
            try:
                with urllib.request.urlopen(INSTALLER, timeout=30) as answer:
                    script.write_bytes(answer.read())
                options = ["--version", version.removeprefix("v"), "--install-root", str(partial), "--no-edit-path"]
                run_watched("installer", ["sh", str(script), *options], partial / "log", dict(os.environ))
                if not (partial / "bin" / HOST).exists():
                    msg = f"the installer left no {HOST}."
                    raise EngineError(msg)
                partial.rename(home)
            except (urllib.error.URLError, OSError) as problem:
                msg = f"the installer could not be fetched from {INSTALLER} ({problem})."
                raise EngineError(msg) from problem
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        return home / "bin"


def build(go: str, go_version: str) -> Path:
    """Build CLI and host from the pinned modules, once for each set of inputs.

    Raises:
        EngineError: If the Go build fails.
    """
    key = build_key(go_version)
    if (cache() / key).is_dir():
        return cache() / key / "bin"
    with locked(key) as home:
        if not home.is_dir():
            say(
                f"engine: building Pulumi {sdk_version()} and its Python host from Go modules, once, into {home}\n"
                "engine: downloads about 1.6 GB of module sources unless Go has them; 3 to 4 minutes on two cores."
            )
            started = time.monotonic()
            partial = fresh(home)
            try:
                compile_into(partial / "bin", go, partial / "log")
                (partial / "log").unlink()
                partial.rename(home)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
            say(f"engine: built in {clock(time.monotonic() - started)}")
        return home / "bin"


def compile_into(bin_dir: Path, go: str, log: Path) -> None:
    """Build both programs, add the SDK's exec script, and check that the CLI starts."""
    bin_dir.mkdir()
    env = go_env()
    for name, package in (("pulumi", CLI), (HOST, "./host")):
        run_watched(
            f"building {name}", [go, "build", *build_flags(), "-v", "-o", str(bin_dir / name), package], log, env
        )
    sdk = output([go, "list", "-m", "-f", "{{.Dir}}", SDK], env)
    script = bin_dir / EXEC
    shutil.copyfile(Path(sdk) / "python" / "cmd" / EXEC, script)
    script.chmod(0o755)
    answer = output([str(bin_dir / "pulumi"), "version"])
    if answer != sdk_version():
        msg = f"the built CLI reports {answer!r} (allowed: {sdk_version()}). Report this as a bug."
        raise EngineError(msg)


def build_flags() -> list[str]:
    """Flags of every build: static, reproducible, without the checkout's revision."""
    version = f"{SDK}/go/common/version.Version={sdk_version()}"
    return ["-trimpath", "-buildvcs=false", "-tags", "osusergo", "-ldflags", f"-s -w -X {version}"]


def build_key(go_version: str) -> str:
    """Hash everything that decides what is built."""
    digest = hashlib.sha256()
    for path in (HERE / "go.mod", HERE / "go.sum", *sorted((HERE / "host").glob("*.go"))):
        digest.update(f"{path.relative_to(HERE)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    digest.update("\0".join([*build_flags(), go_version]).encode())
    return digest.hexdigest()[:20]


def go_env() -> dict[str, str]:
    """Environment of the Go tool: pure Go, this toolchain, this module alone."""
    return {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}


def run_watched(name: str, command: list[str], log: Path, env: dict[str, str]) -> None:
    """Run a long command, show that it lives, and take it down with us.

    Raises:
        EngineError: With the end of its output, if it fails.
    """
    started = time.monotonic()
    live = sys.stderr.isatty()
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command, cwd=HERE, env=env, stdout=sink, stderr=sink, stdin=subprocess.DEVNULL, start_new_session=True
        )
    try:
        while True:
            try:
                code = process.wait(timeout=1.0 if live else BEAT_S)
                break
            except subprocess.TimeoutExpired:
                say_progress(f"engine: {name}  {clock(time.monotonic() - started)}  {last_line(log)}", live=live)
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    finally:
        if live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    if code:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        msg = (
            f"{name} failed (exit {code}):\n{tail}\n"
            "engine: Check that its downloads can be reached and that the disk has 4 GB free, then run again."
        )
        raise EngineError(msg)


def cache() -> Path:
    """Folder of built engines."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("OUTLAST_CACHE") or Path(base) / "outlast").expanduser().resolve() / "engine"


@contextmanager
def locked(key: str) -> Iterator[Path]:
    """Hold the entry of this key; a second process waits and then finds it filled."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f"{key}.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("engine: another process is preparing the engine; waiting for it.")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield cache() / key


def fresh(home: Path) -> Path:
    """Empty work folder of an entry; the lock makes the leftovers of a killed run ours to remove."""
    partial = home.with_name(f"{home.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    return partial


def sdk_version() -> str:
    """Pulumi's version in ``go.mod``, with its ``v``."""
    return pinned(rf"{re.escape(SDK)} (v\S+)")


def go_minimum() -> Version:
    """Go version that ``go.mod`` asks for."""
    return parsed(pinned(r"go (\S+)")) or (0, 0, 0)


def pinned(pattern: str) -> str:
    """First group of a line of ``go.mod``."""
    found = re.search(rf"^\s*{pattern}$", (HERE / "go.mod").read_text(), re.MULTILINE)
    if not found:
        msg = f"{HERE / 'go.mod'} has no line like '{pattern}'. Restore the file from git."
        raise EngineError(msg)
    return found[1]


def version_of(command: list[str]) -> Version | None:
    """Version in the answer of a command, if it answers."""
    try:
        return parsed(output(command))
    except EngineError:
        return None


def parsed(text: str) -> Version | None:
    """First version number in a text."""
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def output(command: list[str], env: dict[str, str] | None = None) -> str:
    """Answer of a short command.

    Raises:
        EngineError: If it fails.
    """
    env = {**(env or go_env()), "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run(command, cwd=HERE, env=env, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as problem:
        detail = (getattr(problem, "stderr", None) or str(problem)).strip()
        msg = f"'{' '.join(command)}' failed: {detail}"
        raise EngineError(msg) from problem
    return answer.stdout.strip()


def last_line(log: Path) -> str:
    """What the command printed last, short enough for a line."""
    lines = log.read_text(errors="replace").splitlines()
    return lines[-1][:70] if lines else ""


def dotted(version: Version) -> str:
    """Version as people write it."""
    return ".".join(map(str, version))


def clock(seconds: float) -> str:
    """Duration as people read it."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def say_progress(line: str, *, live: bool) -> None:
    """Redraw the live line on a terminal, add a line elsewhere."""
    print(f"\r{line}\x1b[K" if live else line, end="" if live else "\n", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Tell the user; stdout is kept for the answer."""
    print(text, file=sys.stderr, flush=True)


def interrupt(_signal: int, _frame: object) -> NoReturn:
    """Let a termination unwind like Ctrl-C."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
