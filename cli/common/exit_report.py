# SPDX-License-Identifier: BSD-3-Clause
"""
What is unusual about a job: no MPI process, no room for records, two MPIs in one job, killed ranks.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from . import records
from .mpis import version_of
from .text import count_text
from .waiting import several_jobs

if TYPE_CHECKING:
    from .records import Rank

MPIS = ("Open MPI", "MPICH", "Intel MPI")
LAUNCHERS = ("mpirun", "mpiexec", "prterun", "orterun", "srun", "aprun")


def family_of(text: str) -> str | None:
    """Returns the MPI named in a text such as "Open MPI 4.1.4"."""
    return next((name for name in MPIS if name in text), None)


def launcher_of(command: list[str]) -> str | None:
    """Returns the launcher's path, or None."""
    for word in command:
        if os.path.basename(word).split(".")[0] in LAUNCHERS:
            return shutil.which(word) or word
    return None


def unwritten(folder: str) -> str | None:
    """Returns a line if processes found no room for their records, else None."""
    count = records.without_room(folder)
    if not count:
        return None
    return (
        f"no room in {folder} for the records of {count_text(count, 'process')}, about 1 MB each:"
        " their calls are not counted; name another folder (TMPDIR, or huddle run --record FOLDER)"
    )


def damaged(folder: str, ranks: Any = ()) -> str | None:
    """Returns a line if records other than the ranks' cannot be read, else None."""
    count = records.damaged(folder, ranks)
    if not count:
        return None
    return (
        f"{count_text(count, 'record')} in {folder} cannot be read (damaged, or from another"
        " version of huddle) and are not counted"
    )


def nothing(command: list[str], folder: str) -> str:
    """Returns the line that explains why nothing was recorded."""
    return unwritten(folder) or damaged(folder) or no_process(command)


def no_process(command: list[str]) -> str:
    what = os.path.basename(command[0]) if command else "the command"
    return (
        f"no MPI process was seen: {what} has not completed MPI_Init in a process that had huddle."
        " If MPI_Init did not fail: is it an MPI program, dynamically linked, of a supported MPI,"
        " and does the launcher pass LD_PRELOAD on?"
    )


def singletons(ranks: list[Rank], command: list[str]) -> str | None:
    """Returns a line if each process is alone in its MPI_COMM_WORLD, else None."""
    alone = [rank for rank in ranks if rank.world_size == 1]
    if len(alone) < 2 and not any(rank.launched_size > 1 for rank in alone):
        return None
    each, mpi = f"{count_text(len(alone), 'process')} of 1 rank each", alone[0].mpi
    launcher = launcher_of(command)
    answer = version_of(launcher) if launcher else None
    if answer and family_of(answer[0]) != family_of(alone[0].mpi):
        return (
            f"{each}: the launcher {launcher} is of {answer[0]}, the"
            f" program uses {mpi}; use the launcher of the program's MPI"
        )
    return f"{each}: the launcher did not start one job (is it of the program's MPI, {mpi}?)"


def ended_early(ranks: list[Rank]) -> str | None:
    """Returns a line if processes have not reached MPI_Finalize, else None."""
    gone = [rank for rank in ranks if not rank.finalized]
    if not gone:
        return None
    inside: dict[str, list[int]] = {}
    for rank in gone:
        if rank.inside:
            inside.setdefault(rank.inside.name, []).append(rank.world_rank)
    where = "; ".join(
        f"{len(who)} in {name} (rank {', '.join(map(str, sorted(who)[:8]))})"
        for name, who in sorted(inside.items())
    )
    return (
        f"{len(gone)} of {count_text(len(ranks), 'rank')} ended before MPI_Finalize"
        + (f": {where}" if where else "")
        + "; later calls are not counted"
    )


def jobs(ranks: list[Rank]) -> str | None:
    """Returns a line if ranks of several jobs have left records, else None."""
    if not several_jobs(ranks):
        return None
    return (
        "several jobs were seen: they are counted together, and waiting times are unknown;"
        " profile each start of a launcher separately"
    )


def absent(ranks: list[Rank]) -> Any:
    """Returns a line if some ranks of the world left no record, else None."""
    world = max((rank.world_size for rank in ranks), default=0)
    seen = len({(rank.world_rank) for rank in ranks if rank.world_size == world})
    if seen >= world:
        return None
    return (
        f"{seen} of {count_text(world, 'rank')} left a record here; ranks of other nodes do so only"
        " if the folder is on a shared file system (huddle run --record FOLDER)"
    )


def lines(ranks: list[Rank], command: list[str], folder: str) -> list[str]:
    """Returns the lines about the records in a folder."""
    if not ranks:
        return [nothing(command, folder)]
    missing = unwritten(folder) or damaged(folder, ranks) or absent(ranks)
    found = [singletons(ranks, command), jobs(ranks), missing]
    found.append(ended_early(ranks))
    lost = sum(rank.lost for rank in ranks)
    if lost:
        found.append(f"{count_text(lost, 'call')} not counted: the records had no room for more")
    return [line for line in found if line]
