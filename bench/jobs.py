# SPDX-License-Identifier: BSD-3-Clause
"""Starting MPI jobs, as they are and through `huddle run`."""
import glob
import json
import os
import pathlib
import shutil
import subprocess
import tempfile


class JobFailed(Exception):
    """A job that did not end well; the text holds its last lines."""


def cores():
    """Cores among the processors that this process may use; hardware threads of one core count once."""
    seen = set()
    for cpu in os.sched_getaffinity(0):
        about = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            seen.add(((about / "physical_package_id").read_text(), (about / "core_id").read_text()))
        except OSError:
            seen.add(cpu)
    return len(seen)


class Jobs:
    """The launchers, with `huddle run` of one build tree (or installation) before them when asked."""

    def __init__(self, build):
        self.huddle = os.path.join(build, "bin", "huddle")
        self.venv = os.path.join(build, "venv")
        self.openmpi = shutil.which("mpirun.openmpi") or "mpirun"

    def on_openmpi(self, ranks, bound):
        placed = ["--bind-to", "core"] if bound and cores() >= ranks else ["--oversubscribe", "--bind-to", "none"]
        return [self.openmpi, *placed, "-np", str(ranks)]

    def on_mpich_wheel(self, ranks):
        placed = ["-bind-to", "core"] if cores() >= ranks else []
        return [os.path.join(self.venv, "bin", "mpiexec"), *placed, "-n", str(ranks)]

    def run(self, command, huddle=False, cwd=None, limit_s=120):
        """Returns (standard output, statistics); statistics is None without huddle, and {} when huddle wrote none."""
        env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        with tempfile.TemporaryDirectory(prefix="huddle-") as scratch:
            file = os.path.join(scratch, "stats.json")
            before = [self.huddle, "run", f"--stats={file}", "--"] if huddle else []
            output = self.finish(subprocess.Popen([*before, *command], cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), limit_s)
            statistics = {} if huddle else None
            if huddle and os.path.exists(file):
                with open(file, encoding="utf-8") as written:
                    statistics = json.load(written)
            return output, statistics

    @staticmethod
    def finish(job, limit_s):
        """Waits; a launcher that is told to end takes its ranks along, one that is killed may not."""
        words, late = " ".join(job.args), False
        try:
            output, errors = job.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            late = True
            job.terminate()
            output, errors = job.communicate()
        if late or job.returncode != 0:
            raise JobFailed(f"{words}: {f'no end after {limit_s} s' if late else f'status {job.returncode}'}\n{(output + errors)[-2000:]}")
        return output


def taken(statistics, collective):
    """(calls that huddle took, all calls) summed over the ranks it saw."""
    row = statistics.get("collectives", {}).get(collective, {})
    return row.get("taken", 0), row.get("calls", 0)


def leftovers():
    """Files in shared memory that carry huddle's name: there must never be one."""
    return glob.glob("/dev/shm/*huddle*")
