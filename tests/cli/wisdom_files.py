# SPDX-License-Identifier: BSD-3-Clause
"""Files of wisdom that are written by hand, for tests of commands."""

import json
import os
import subprocess
import tempfile
import unittest

from harness import run_huddle
from paths import BUILD

from cli.common import rules, wisdom

MPI = "Open MPI 4.1.4"
NAME = "wisdom-openmpi-4.1.4-0123456789abcdef.rules"
MACHINE = f'machine processors=2 cpu="A CPU" numa=1 kernel=6.1 mpi="{MPI}"\n'
LINE = "bcast ranks=2 bytes={} oversubscribed=no divided=no -> {} | ns={} samples={}"
QUEUE = LINE.format("32769-64K", "queue budget=128K", 5800, 214)
QUEUE += " runner_up=levels:6100 mpi_ns=8700 before=inline:11600 date=2026-11-28"
MORE = LINE.format("65537-128K", "queue budget=256K", 11600, 40) + " mpi_ns=11600 date=2026-11-30"
OWN = "alltoall ranks=4 bytes=513-1K oversubscribed=yes -> mpi | ns=3000 samples=9 date=2026-11-30"
SUMS = "allreduce reduction=exact ranks=2 bytes=0-8 -> inline | ns=210 samples=99 mpi_ns=640"


def answer(lines, **more):
    """Returns the answer of `query lines` about a file of which these lines are used."""
    found = {"lines": lines, "other": [], "error": "", "elsewhere": False}
    return {**found, "not_used": "", "not_written": "", **more}


def line(text):
    return rules.parse(text)


def file_of(*texts):
    return wisdom.Wisdom("a.rules", {"mpi": MPI}, [line(text) for text in texts])


class Folder(unittest.TestCase):
    """A test that runs commands with a folder of their own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.home = scratch.name
        self.folder = os.path.join(self.home, "huddle")
        os.mkdir(self.folder)
        self.file = os.path.join(self.folder, NAME)

    def write(self, *lines, path=None, machine=MACHINE):
        with open(path or self.file, "w", encoding="utf-8") as file:
            file.write(machine + "".join(f"{text}\n" for text in lines))

    def run_it(self, *words, **environment):
        words = words or ("wisdom",)
        return run_huddle(BUILD, words, timeout=60, home=self.home, **environment)

    def place(self, mpi=MPI):
        """Returns the file of an MPI on this machine, and its line about the machine."""
        query = os.path.join(BUILD, "libexec", "huddle", "query")
        environment = {**os.environ, "XDG_CACHE_HOME": self.home}
        words = [query, "wisdom", mpi]
        answer = subprocess.run(words, stdout=subprocess.PIPE, env=environment, check=True)
        found = json.loads(answer.stdout)
        return found["file"], found["machine"] + "\n"
