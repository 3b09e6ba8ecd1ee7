# SPDX-License-Identifier: BSD-3-Clause
"""
k-means with mpi4py: in each round, rank 0 broadcasts the centres, and every rank assigns its share
of the points to the centres.

    mpiexec -n 2 python kmeans.py [rounds]

Afterwards every rank computes the result alone and compares.  The exit status is 0 if both agree.
All arithmetic is on integers, so correct results agree to the last bit.
"""

import sys

import numpy as np
from mpi4py import MPI

POINTS, CENTRES, DIMENSIONS = 4000, 8, 16


def sort_points(points, centres):
    """Returns the sums and counts of the points nearest to each centre."""
    nearest = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
    sums = np.zeros_like(centres)
    np.add.at(sums, nearest, points)
    return sums, np.bincount(nearest, minlength=CENTRES).astype(np.int64)


def move(centres, sums, counts):
    return np.where(counts[:, None] > 0, sums // np.maximum(counts, 1)[:, None], centres)


def main(rounds):
    comm = MPI.COMM_WORLD
    points = comm.bcast(
        np.random.default_rng(1).integers(0, 1 << 20, (POINTS, DIMENSIONS))
        if comm.rank == 0
        else None
    )
    mine = points[comm.rank :: comm.size]
    centres = points[:CENTRES].copy()
    for _ in range(rounds):
        comm.Barrier()
        comm.Bcast(centres, root=0)
        sums, counts = sort_points(mine, centres)
        comm.Allreduce(MPI.IN_PLACE, sums)
        comm.Allreduce(MPI.IN_PLACE, counts)
        if comm.rank == 0:
            centres = move(centres, sums, counts)
    comm.Bcast(centres, root=0)
    alone = points[:CENTRES].copy()
    for _ in range(rounds):
        alone = move(alone, *sort_points(points, alone))
    agree = comm.allreduce(bool((alone == centres).all()), op=MPI.LAND)
    if comm.rank == 0:
        print(
            "same centres" if agree else "different centres",
            "on",
            comm.size,
            "ranks and alone, under",
            MPI.Get_library_version().split()[0],
        )
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 40))
