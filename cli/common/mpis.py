# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs on PATH, recognised by the output of their launchers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import Any

from .layout import Layout

LAUNCHERS = ("mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra", "prterun")

# Output of a launcher's --version -> (the MPI's name, its front end; {} is major.minor).
ANSWERS = (
    (re.compile(r"\((?:Open MPI|OpenRTE)\) (\d+\.\d+)(\S*)"), "Open MPI", "openmpi-{}"),
    (re.compile(r"Intel\(R\) MPI Library.*Version (\d+\.\d+)(\S*)"), "Intel MPI", "mpich"),
    (re.compile(r"HYDRA build details:\s+Version:\s+(\d+\.\d+)(\S*)"), "MPICH", "mpich"),
)


def version_of(launcher: str) -> tuple[str, str] | None:
    try:
        answer = subprocess.run(
            [launcher, "--version"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    for pattern, name, front_end in ANSWERS:
        found = pattern.search(answer.stdout)
        if found:
            return f"{name} {found[1]}{found[2]}", front_end.format(found[1])
    return None


def on_path(layout: Layout) -> list[dict[str, Any]]:
    """
    Returns [{"mpi", "launcher", "command", "front_end", "path"}]. The path is None if no front end
    was built for the MPI.
    """
    built = layout.front_ends()
    seen, found = set(), []
    for name in LAUNCHERS:
        command = shutil.which(name)
        if not command or os.path.realpath(command) in seen:
            continue
        seen.add(os.path.realpath(command))
        answer = version_of(command)
        if answer:
            found.append(
                {
                    "mpi": answer[0],
                    "launcher": name,
                    "command": command,
                    "front_end": answer[1],
                    "path": built.get(answer[1]),
                }
            )
    return found
