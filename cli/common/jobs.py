# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that end with their command, at a limit, or with this command.  No process is left over."""

import os
import pathlib
import secrets
import signal
import subprocess

MARK = "MPI_BENCH_JOB"  # in the environment of every process of a job, to find left-over processes
AS_ROOT = {
    name: "1"
    for base in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT")
    for name in (base, base + "_CONFIRM")
}


class JobFailed(Exception):
    """
    A job that did not end well; the text holds its last lines, output what it wrote on standard
    output.
    """

    def __init__(self, text, output=""):
        super().__init__(text)
        self.output = output


def cores():
    """
    Cores among the processors that this process may use; hardware threads of one core count once.
    """
    seen = set()
    for cpu in os.sched_getaffinity(0):
        about = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            seen.add(((about / "physical_package_id").read_text(), (about / "core_id").read_text()))
        except OSError:
            seen.add(cpu)
    return len(seen)


def binding(asked, ranks):
    """
    How ranks are placed.  core: one core per rank; shared: they outnumber the cores, so they are
    not bound; none: not bound, as asked, or as they have one processor.
    """
    if asked == "core" and ranks <= cores():
        return "core"
    return "shared" if ranks > cores() and len(os.sched_getaffinity(0)) > 1 else "none"


def marked(mark, variable=MARK):
    """Pids of the processes that have the mark in their environment."""
    wanted, found = f"{variable}={mark}".encode(), []
    for about in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (about / "environ").read_bytes().split(b"\0"):
                found.append(int(about.name))
        except OSError:
            pass  # has ended, or belongs to another user
    return found


def end(job, mark):
    """Asks the launcher to end, which ends its ranks; kills processes that are left over."""
    job.terminate()
    try:
        job.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        pass
    for pid in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    job.communicate()


def run(command, env=None, cwd=None, limit_s=120):
    """
    Standard output of a command that ends well in time; else JobFailed.  Ctrl-C ends the job first.
    """
    mark = secrets.token_hex(8)
    try:
        job = subprocess.Popen(
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
