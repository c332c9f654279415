"""One way to run a command that must not outlive this process, nor lose its state when it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from outlast.errors import EnvironmentProblem, Problem

_running: set[subprocess.Popen[str]] = set()
"""Commands under way, in whatever thread."""


def interrupt_running() -> None:
    """Ask every command under way to stop; a thread that waits for one then sees it end."""
    for process in tuple(_running):
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)


@contextmanager
def started(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    sink: Any = subprocess.PIPE,
    patience: float = 60,
) -> Iterator[subprocess.Popen[str]]:
    """Start a command in a session of its own, and end it when the block is left by an exception.

    One interrupt asks it to stop after what is under way: the engine then saves its state and ends its plugins. Another
    interrupt, or the end of patience, ends it and all that it started.

    Args:
        command: program and arguments.
        folder: where it runs.
        environment: all of its environment.
        sink: takes standard output; standard error goes with it, or to a pipe of its own if that is no pipe.
        patience: seconds to wait after the first interrupt.

    Raises:
        EnvironmentProblem: there is no such program.
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT if sink == subprocess.PIPE else subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        do = "Run 'make setup', which finds or builds it"
        raise EnvironmentProblem(Problem(where=command[0], what="the command is not on PATH", do=do)) from error
    _running.add(process)
    try:
        yield process
    except BaseException:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=patience)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raise
    finally:
        _running.discard(process)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
