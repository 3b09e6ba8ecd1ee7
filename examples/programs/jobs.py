# SPDX-License-Identifier: BSD-3-Clause
"""Starts the programs of quickstart, unchanged and through `huddle run`."""

import glob
import json
import os
import shutil
import tempfile

from cli.common import jobs, peers
from cli.common.jobs import JobFailed  # noqa: F401  (raised for a failed job)


class Jobs:
    """
    The launchers, optionally preceded by `huddle run` of a build tree (or installation).
    """

    def __init__(self, build):
        self.build = build
        self.huddle = os.path.join(build, "bin", "huddle")
        self.venv = os.path.join(build, "venv")
        self.openmpi = peers.Mpi(
            "ompi4", "ompi4", "Open MPI", shutil.which("mpirun.openmpi") or "mpirun", {}
        )
        self.mpich = peers.Mpi(
            "mpich5", "mpich5", "MPICH", os.path.join(self.venv, "bin", "mpiexec"), {}
        )

    def on_openmpi(self, ranks, bound):
        return peers.launch(self.openmpi, ranks, bound and jobs.cores() >= ranks)[0]

    def on_mpich_wheel(self, ranks):
        return peers.launch(self.mpich, ranks, jobs.cores() >= ranks)[0]

    def run(self, command, huddle=False, cwd=None):
        """
        Returns (standard output, statistics).  statistics is None without huddle, and {} if huddle
        wrote none.
        """
        with tempfile.TemporaryDirectory(prefix="huddle-") as scratch:
            file = os.path.join(scratch, "stats.json")
            before = [self.huddle, "run", f"--stats={file}", "--"] if huddle else []
            # What the user's programs have learned must not decide what is shown, nor change.
            output = jobs.run([*before, *command], {"XDG_CACHE_HOME": scratch}, cwd=cwd)
            statistics = {} if huddle else None
            if huddle and os.path.exists(file):
                with open(file, encoding="utf-8") as written:
                    statistics = json.load(written)
            return output, statistics


def handled(statistics, collective):
    """Returns (calls that huddle handled, all calls), summed over the ranks with huddle."""
    row = statistics.get("collectives", {}).get(collective, {})
    return row.get("handled", 0), row.get("calls", 0)


def leftovers():
    """Returns files in shared memory with huddle's name, which must never exist."""
    return glob.glob("/dev/shm/*huddle*")
