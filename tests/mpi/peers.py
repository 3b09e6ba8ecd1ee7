# SPDX-License-Identifier: BSD-3-Clause
"""
The MPIs that the tests run under: Debian's Open MPI and MPICH, and wheels of Open MPI 5, MPICH 5
and Intel MPI in private environments.

    peers.py setup FOLDER                       installs the wheels
    peers.py list FOLDER                        lists the installed MPIs
    peers.py run FOLDER MPI RANKS COMMAND...    MPI: ompi4, ompi5, mpich4, mpich5, intel

A line reports a wheel that cannot be installed, and its MPI is skipped.

Programs are built twice: by Open MPI's compiler for ompi4 and ompi5, by MPICH's for the others,
which share one ABI.
"""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

from cli.common.jobs import AS_ROOT
from cli.common.peers import MPICH_ABI_NAME, NAMES, WHEELS, abi, debian, launch, wheel


def setup(folder):
    for mpi, wheel in WHEELS.items():
        home = os.path.join(folder, wheel)
        if os.path.exists(os.path.join(home, "ready")):
            continue
        shutil.rmtree(home, ignore_errors=True)
        try:
            subprocess.run([sys.executable, "-m", "venv", home], check=True, capture_output=True)
            subprocess.run(
                [home + "/bin/pip", "install", "-q", wheel],
                check=True,
                capture_output=True,
                timeout=300,
            )
        except (subprocess.SubprocessError, OSError) as error:
            print(
                f"{mpi}: the wheel '{wheel}' cannot be installed, its tests are skipped ({error})"
            )
            continue
        if abi(mpi) == "mpich":
            os.makedirs(home + "/compat")
            os.symlink("../lib/libmpi.so.12", f"{home}/compat/{MPICH_ABI_NAME}")
        open(os.path.join(home, "ready"), "w").close()


def found(folder, mpi):
    """Returns how the MPI is started, or None if it is not installed."""
    return wheel(folder, mpi) if mpi in WHEELS else debian(mpi)


def installed(folder, mpi):
    return found(folder, mpi) is not None


def launcher(folder, mpi, ranks, bind=False, extra=()):
    """
    Returns (command, environment).  The command starts `ranks` ranks of the words appended to it.
    `bind` uses a core for each rank.
    """
    command, env = launch(found(folder, mpi), ranks, bind, extra)
    return command, {**(AS_ROOT if abi(mpi) == "openmpi" else {}), **env}


def main(argv):
    if len(argv) == 2 and argv[0] == "setup":
        setup(argv[1])
    elif len(argv) == 2 and argv[0] == "list":
        print(" ".join(mpi for mpi in NAMES if installed(argv[1], mpi)))
    elif len(argv) > 4 and argv[0] == "run" and argv[2] in NAMES:
        command, env = launcher(
            argv[1], argv[2], int(argv[3]), bind=int(argv[3]) <= len(os.sched_getaffinity(0))
        )
        os.execvpe(command[0], command + argv[4:], {**os.environ, **env})
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
