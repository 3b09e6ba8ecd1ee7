# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that end with their command, at a limit, or with this command.  No process is left over."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import Any

from . import stop

MARK = "MPI_BENCH_JOB"  # a variable of every process of a job, to find left-over processes
AS_ROOT = {
    name: "1"
    for base in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT")
    for name in (base, base + "_CONFIRM")
}


class JobFailed(Exception):
    """
    A job that failed.  The text has its last lines, and `output` has its standard output.
    """

    def __init__(self, text: str, output: str = "") -> None:
        super().__init__(text)
        self.output = output


def contents(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def cores() -> int:
    """
    Returns the number of cores among the processors that this process may use.  Counts the hardware
    threads of a core once.
    """
    seen: set[object] = set()
    for cpu in os.sched_getaffinity(0):
        about = f"/sys/devices/system/cpu/cpu{cpu}/topology"
        try:
            seen.add((contents(f"{about}/physical_package_id"), contents(f"{about}/core_id")))
        except OSError:
            seen.add(cpu)
    return len(seen)


def binding(asked: str, ranks: int) -> str:
    """
    Returns how ranks are placed.  core: a core for each rank.  shared: not bound, because the ranks
    outnumber the cores.  none: not bound, as requested or because there is a single processor.
    """
    if asked == "core" and ranks <= cores():
        return "core"
    return "shared" if ranks > cores() and len(os.sched_getaffinity(0)) > 1 else "none"


def marked(mark: str, variable: str = MARK) -> list[Any]:
    """Returns the pids of the processes that have the mark in their environment."""
    wanted, found = f"{variable}={mark}".encode(), []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if wanted in contents(f"/proc/{name}/environ").split(b"\0"):
                found.append(int(name))
        except OSError:
            pass  # has ended, or belongs to another user
    return found


def end(job: Any, mark: str) -> None:
    """
    Asks the launcher to end, which ends its ranks; kills processes that are left over, and waits
    until they are gone.
    """
    job.terminate()
    try:
        job.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        pass
    for _ in range(100):
        left = marked(mark)
        if not left:
            break
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
    job.communicate()


def run(
    command: list[str], env: dict[str, str] | None = None, cwd: Any = None, limit_s: float = 120
) -> str:
    """
    Returns the standard output of a command that succeeds in time.  Raises JobFailed otherwise.
    Ctrl-C ends the job first.
    """
    mark = os.urandom(8).hex()
    try:
        job, listen_again = stop.start(
            command,
            cwd=cwd,
            env={**os.environ, **AS_ROOT, **(env or {}), MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise JobFailed(f"{command[0]}: {error.strerror}") from error
    try:
        listen_again()
        output, errors = job.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired as late:
        end(job, mark)
        raise JobFailed(f"{' '.join(command)}: did not end within {limit_s:.0f} s") from late
    except BaseException:
        end(job, mark)
        raise
    if job.returncode != 0:
        raise JobFailed(
            f"{' '.join(command)}: status {job.returncode}\n{(output + errors).strip()[-2000:]}",
            output,
        )
    return output
