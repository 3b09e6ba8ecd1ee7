# SPDX-License-Identifier: BSD-3-Clause
"""
Builds and runs the programs of examples/, in C, Fortran and Python, as described in their heads: by
the MPI's own compiler, and with huddle.  The result must be right and every call handled.

usage: examples.py SOURCE BUILD NAME      c, fortran, python; status 77: it cannot be built here
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
STEPS, RANKS = 12, 3
AS_ROOT = {f"OMPI_ALLOW_RUN_AS_ROOT{end}": "1" for end in ("", "_CONFIRM")}
LAUNCHER = ["mpirun.openmpi", "--oversubscribe", "-np", str(RANKS)]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def compiled(compiler, source, folder, *libraries):
    if not shutil.which(compiler):
        skip(f"no {compiler} here")
    program = os.path.join(folder, "pi")
    subprocess.run(
        [compiler, "-O2", "-Wall", "-Werror", source, "-o", program, *libraries], check=True
    )
    return [*LAUNCHER, program]


def in_python(source, build):
    """Returns the command with the MPI in build/venv, if ./test has made it."""
    python = build / "venv/bin/python"
    launcher = build / "venv/bin/mpiexec"
    if not launcher.exists():
        skip("no build/venv with mpi4py and MPICH here: ./test makes it")
    return [str(launcher), "-n", str(RANKS), str(python), source]


def command_of(name, examples, build, folder):
    if name == "c":
        return compiled("mpicc.openmpi", str(examples / "pi.c"), folder, "-lm")
    if name == "fortran":
        return compiled("mpifort.openmpi", str(examples / "pi.f90"), folder)
    return in_python(str(examples / "pi.py"), build)


def main(source, build, name):
    build = pathlib.Path(build)
    with tempfile.TemporaryDirectory() as folder:
        command = command_of(name, pathlib.Path(source) / "examples", build, folder)
        file = os.path.join(folder, "stats.json")
        words = [str(build / "bin/huddle"), "run", f"--stats={file}", "--", *command]
        env = {**os.environ, **AS_ROOT, "XDG_CACHE_HOME": folder}
        printed = subprocess.run(words, env=env, stdout=subprocess.PIPE, text=True, check=True)
        assert printed.stdout.startswith("pi is 3.14159265"), printed.stdout
        with open(file, encoding="utf-8") as written:
            rows = json.load(written)["collectives"]
    for collective in ("bcast", "allreduce"):
        row = rows[collective]
        assert row["calls"] == row["handled"] == STEPS * RANKS, (collective, row)


if __name__ == "__main__":
    main(*sys.argv[1:])
