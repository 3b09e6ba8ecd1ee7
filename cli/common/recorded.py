# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command with the recorder in its ranks, with huddle or without it."""

import subprocess
import time

END_S = 20


def command_line(layout, folder, command, off):
    switch = ["--set", "HUDDLE=off"] if off else []
    return [layout.launcher, "run", "--record", folder, *switch, "--", *command]


def end(job):
    """The launcher ends its ranks."""
    job.terminate()
    try:
        job.communicate(timeout=END_S)
    except subprocess.TimeoutExpired:
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
    except BaseException:
        end(job)
        raise
    return job.returncode, time.monotonic() - begin, (text, errors)
