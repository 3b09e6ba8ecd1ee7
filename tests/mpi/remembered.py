# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that a program begins with what an earlier program has learned (HUDDLE_WISDOM).

    remembered.py --build BUILD [--wheels FOLDER] [MPI...]

Under each MPI a first job learns, and leaves a file in the cache folder.  A second job begins with
its decisions: if each line of the file is changed to the MPI's own collective, all these calls fall
back.  HUDDLE_WISDOM=read does not change the file, even if it is wrong.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import peers
from run import front_end

RANKS, LEARNS = 2, 30000
TRIES = 8  # first jobs: on a busy machine trials wait, and a job may decide nothing
USES = 12  # calls before a known choice is verified (LEARNER_WARM_UP)
LINE = re.compile(r"^allreduce reduction=exact ranks=2 bytes=0-8 [^|]* -> ", re.MULTILINE)


class Setting:
    """One MPI, and the cache folder of its jobs."""

    def __init__(self, build, wheels, mpi, folder):
        self.build, self.wheels, self.mpi, self.folder = build, wheels, mpi, folder

    def job(self, name, words, wisdom, **more):
        """Runs a program with these words.  Returns (the statistics, the text)."""
        launch, env = peers.launcher(self.wheels, self.mpi, RANKS)
        stats = os.path.join(self.folder, "stats.json")
        program = os.path.join(self.build, "tests", "mpi", peers.abi(self.mpi), name)
        command = [os.path.join(self.build, "bin", "huddle"), "run", "--", *launch]
        job = subprocess.run(
            [*command, program, *words],
            env={
                **os.environ,
                **env,
                "XDG_CACHE_HOME": os.path.join(self.folder, "cache"),
                "HUDDLE_WISDOM": wisdom,
                "HUDDLE_STATS": f"json:{stats}",
                "OMPI_MCA_mpi_yield_when_idle": "1",
                **more,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert job.returncode == 0, job.stdout
        with open(stats, encoding="utf-8") as file:
            return json.load(file), job.stdout

    def run(self, calls, wisdom, **more):
        """Returns (the statistics of allreduce, the text) of a job."""
        statistics, text = self.job("remembered", [str(calls)], wisdom, **more)
        return statistics["collectives"]["allreduce"], text

    def file(self):
        """Returns the path of the only file."""
        (path,) = glob.glob(os.path.join(self.folder, "cache", "huddle", "*"))
        return path

    def has_learned(self):
        """Returns whether a file holds the line of the smallest allreduces."""
        files = glob.glob(os.path.join(self.folder, "cache", "huddle", "*"))
        return bool(files) and LINE.search(self.text()) is not None

    def identity(self):
        file = os.stat(self.file())
        return file.st_ino, file.st_size, file.st_mtime_ns

    def text(self):
        with open(self.file(), encoding="utf-8") as file:
            return file.read()


def passed(row):
    return sum(row.get("passed", {}).values())


def check(setting):
    """Runs the jobs under one MPI.  Raises AssertionError."""
    for _ in range(TRIES):
        output = setting.run(LEARNS, "on")[1]
        assert "huddle:" not in output, output
        if setting.has_learned():
            break
    learned = setting.text()
    assert setting.has_learned(), learned

    wrong = re.sub(r" -> [^|]*\|", " -> mpi |", learned)
    with open(setting.file(), "w", encoding="utf-8") as file:
        file.write(wrong)
    before = setting.identity()
    for wisdom in ("read", "on"):
        row, output = setting.run(USES, wisdom)
        assert passed(row) >= USES * RANKS - RANKS, (wisdom, row)
        assert "huddle:" not in output, output
        assert wisdom == "on" or (setting.identity() == before and setting.text() == wrong)
    assert passed(setting.run(USES, "off")[0]) == 0

    with open(setting.file(), "w", encoding="utf-8") as file:
        file.write("nonsense\n" + wrong)
    before = setting.text()
    output = setting.run(USES, "read")[1]
    assert output.count("huddle: ") == 1 and "nonsense" in output, output
    assert setting.text() == before
    output = setting.run(USES, os.path.join(setting.folder, "none", "x.rules"))[1]
    assert "huddle:" not in output, output  # no decision, so the folder is not missed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--wheels")
    parser.add_argument("mpis", nargs="*", default=peers.NAMES)
    words = parser.parse_args()
    build = os.path.abspath(words.build)
    wheels = os.path.abspath(words.wheels or os.path.join(build, "peers"))
    done = failed = 0
    for mpi in words.mpis:
        words.build = build
        if not peers.installed(wheels, mpi) or not front_end(words, mpi):
            print(f"{mpi}: not here")
            continue
        with tempfile.TemporaryDirectory(prefix="remembered-") as folder:
            try:
                check(Setting(build, wheels, mpi, folder))
                print(f"{mpi}: ok", flush=True)
            except (AssertionError, ValueError, subprocess.TimeoutExpired) as error:
                print(f"{mpi}: FAILED: {error!r}", flush=True)
                failed += 1
        done += 1
    sys.exit(1 if failed else 0 if done else 77)


if __name__ == "__main__":
    main()
