# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command with the recorder in its ranks, with huddle or without it."""

from __future__ import annotations

import subprocess
import time
from typing import Any

from . import stop
from .layout import Layout

END_S = 20
OWN_END_S = 5  # time for a job that has got the same signal
GROUP_S = 0.1  # time until all processes of a group have got a signal


def command_line(layout: Layout, folder: str, command: list[str], off: bool) -> list[str]:
    switch = ["--set", "HUDDLE=off"] if off else []
    return [layout.launcher, "run", "--record", folder, *switch, "--", *command]


def ended(job: Any, limit_s: Any) -> Any:
    try:
        job.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return False
    return True


class Witness:
    """
    A process that shows whether a SIGINT was sent to the whole process group, which ends it.  It
    also ends with this process, because its standard input is closed.
    """

    def __enter__(self) -> Witness:
        self.process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def has_ended(self) -> bool:
        try:
            self.process.wait(GROUP_S)
        except subprocess.TimeoutExpired:
            return False
        return True


def end(job: Any, is_signalled: bool) -> None:
    """
    Lets the launcher end its ranks.  A job that has itself received the signal, as from Ctrl-C,
    gets no second signal for a while, because Open MPI's launcher then leaves files in /dev/shm.
    """
    if is_signalled and ended(job, OWN_END_S):
        return
    job.terminate()
    if not ended(job, END_S):
        job.kill()
        job.communicate()


def run(
    layout: Layout, folder: str, command: list[str], off: bool = False, output: int | None = None
) -> tuple[int, float, tuple[Any, Any]]:
    """
    Runs a command with a recorder.  Returns exit status, seconds, and standard output if it is
    caught (output=PIPE).  A signal to this command ends the job first.
    """
    begin = time.monotonic()
    with Witness() as witness:
        job, listen_again = stop.start(
            command_line(layout, folder, command, off),
            stdin=subprocess.DEVNULL if output else None,
            stdout=output,
            stderr=output,
        )
        try:
            listen_again()
            text, errors = job.communicate()
        except KeyboardInterrupt:
            end(job, witness.has_ended())
            raise
    return job.returncode, time.monotonic() - begin, (text, errors)
