# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command for a test in Python."""

import os
import subprocess


def run(*words, check=True, timeout=120, **environment):
    """
    Returns the output of the command, errors included.  check: asserts that the command succeeds.
    """
    answer = subprocess.run(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environment},
        timeout=timeout,
        check=False,
    )
    assert answer.returncode == 0 or not check, f"{words}: {answer.stdout}"
    return answer.stdout
