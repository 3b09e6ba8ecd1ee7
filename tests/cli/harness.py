# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of the tests of commands: the cases to run, and the output of a command."""

import os
import re
import subprocess
import tempfile
import unittest

IN_BUILD = {  # arguments of cli.common.layout.Layout: the places of parts in a build tree
    "libs": "lib",
    "plugins": "lib/huddle",
    "tools": "libexec/huddle",
    "share": "share/huddle",
    "sysconf": "/etc",
}
FULL = bool(os.environ.get("HUD_TEST_FULL"))  # ./test --full
long_test = unittest.skipUnless(FULL, "./test --full runs it")


def some(cases, one_in=3):
    """
    Returns all cases with ./test --full, otherwise one in `one_in`.  Each case starts a process.
    """
    cases = list(cases)
    return cases if FULL else cases[::one_in]


def without_progress(answer):
    """
    Removes the lines of progress from standard error.  They are printed every ten seconds, so their
    number depends on the machine.
    """
    answer.stderr = re.sub(r"(?m)^huddle: \d+ of \d+ done.*\n", "", answer.stderr)
    return answer


def run_huddle(build, words, timeout, home=None, **environment):
    """
    Runs a command of the build without the HUDDLE settings of the environment.  `home` is the
    folder of users' configuration files and of learned choices.  Without `home` there are no such
    files.
    """
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
    with tempfile.TemporaryDirectory() as empty:
        return without_progress(
            subprocess.run(
                [os.path.join(build, "bin", "huddle"), *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={
                    **clean,
                    "XDG_CONFIG_HOME": home or empty,
                    "XDG_CACHE_HOME": home or empty,
                    **environment,
                },
                timeout=timeout,
                check=False,
            )
        )
