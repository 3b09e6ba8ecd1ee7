# SPDX-License-Identifier: BSD-3-Clause
"""Runs the program simulate for one simulation."""

import json
import subprocess


def simulate(program, request):
    return subprocess.run(
        [program],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def answer(program, request):
    done = simulate(program, request)
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)
