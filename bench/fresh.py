# SPDX-License-Identifier: BSD-3-Clause
"""The environment of a launch that is measured."""

import contextlib
import os
import subprocess
import tempfile

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Settings of launches that measure one choice.  A value of the caller's environment stays.
UNLEARNED = {"HUDDLE_WISDOM": os.environ.get("HUDDLE_WISDOM", "off")}


@contextlib.contextmanager
def environment(**settings):
    """
    Gives the environment of a launch, with an empty cache folder: figures must not depend on
    choices learned by earlier programs or launches (HUDDLE_WISDOM).
    """
    with tempfile.TemporaryDirectory(prefix="bench-cache-") as cache:
        yield {**os.environ, **AS_ROOT, "XDG_CACHE_HOME": cache, **settings}


def run(command, limit_s, **settings):
    """Runs a command in an environment of its own.  Returns its output, or raises if it fails."""
    with environment(**settings) as env:
        return subprocess.run(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=limit_s,
            check=True,
            text=True,
        ).stdout
