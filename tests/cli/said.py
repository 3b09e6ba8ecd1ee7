# SPDX-License-Identifier: BSD-3-Clause
"""What tests of commands share: which of their cases are run, and what a command has said."""

import os
import re
import subprocess
import tempfile
import unittest

IN_BUILD = {  # of cli.common.layout.Layout: where a build tree has its parts
    "libs": "lib",
    "plugins": "lib/huddle",
    "tools": "libexec/huddle",
    "share": "share/huddle",
    "sysconf": "/etc",
}
FULL = bool(os.environ.get("HUD_TEST_FULL"))  # ./test --full
long_test = unittest.skipUnless(FULL, "./test --full runs it")


def some(cases, one_in=3):
    """Of cases of which each starts a process: all with ./test --full, else one in so many."""
    cases = list(cases)
    return cases if FULL else cases[::one_in]


def without_progress(said):
    """
    Of standard error, not the lines that say every ten seconds how far it is: how many there are
    depends on the machine.
    """
    said.stderr = re.sub(r"(?m)^\[\d+/\d+\] .*\n", "", said.stderr)
    return said


def run_huddle(build, words, timeout, home=None, **environment):
    """
    A command of the build, without the settings of who runs the test.  home: where it finds what
    users configure; nothing, if not given.
    """
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
    with tempfile.TemporaryDirectory() as empty:
        return without_progress(
            subprocess.run(
                [os.path.join(build, "bin", "huddle"), *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**clean, "XDG_CONFIG_HOME": home or empty, **environment},
                timeout=timeout,
                check=False,
            )
        )
