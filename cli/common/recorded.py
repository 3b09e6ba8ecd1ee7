# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command with the recorder in its ranks, with huddle or without it."""

import subprocess
import time

from . import stop

END_S = 20
OWN_END_S = 5  # for a job that a terminal may have told to end


def command_line(layout, folder, command, off):
    switch = ["--set", "HUDDLE=off"] if off else []
    return [layout.launcher, "run", "--record", folder, *switch, "--", *command]


def ended(job, limit_s):
    try:
        job.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def end(job, interrupt):
    """
    The launcher ends its ranks.  A terminal sends Ctrl-C to the launcher, too; Open MPI's leaves
    files in /dev/shm where a second signal follows.
    """
    if stop.name_of(interrupt) == "Ctrl-C" and ended(job, OWN_END_S):
        return
    job.terminate()
    if not ended(job, END_S):
        job.kill()
        job.communicate()


def run(layout, folder, command, off=False, output=None):
    """
    Exit status, seconds, and standard output where it is caught (output=PIPE).  A signal to this
    command ends the job first.
    """
    begin = time.monotonic()
    job = subprocess.Popen(
        command_line(layout, folder, command, off),
        stdin=subprocess.DEVNULL if output else None,
        stdout=output,
        stderr=output,
    )
    try:
        text, errors = job.communicate()
    except KeyboardInterrupt as interrupt:
        end(job, interrupt)
        raise
    return job.returncode, time.monotonic() - begin, (text, errors)
