# SPDX-License-Identifier: BSD-3-Clause
"""
pi.c in Python, by mpi4py.  It does not depend on huddle.

    huddle run --stats -- mpiexec -n 4 python examples/pi.py
"""

import math
import sys

import numpy
from mpi4py import MPI

STEPS = 12


def part(intervals, rank, size):
    """Returns this rank's part of the integral of 4 / (1 + x^2) over 0..1."""
    x = (numpy.arange(rank, intervals, size) + 0.5) / intervals
    return (4 / (1 + x * x)).sum() / intervals


def main():
    comm = MPI.COMM_WORLD
    intervals, mine, pi = numpy.zeros(1, "i"), numpy.zeros(1), numpy.zeros(1)
    for step in range(STEPS):
        if comm.rank == 0:
            intervals[0] = 100 << step
        comm.Bcast(intervals)  # upper case: buffers, as in C; bcast() would pickle
        mine[0] = part(intervals[0], comm.rank, comm.size)
        comm.Allreduce(mine, pi)
    error = abs(pi[0] - math.pi)
    if comm.rank == 0:
        print(f"pi is {pi[0]:.10f}, error {error:.1e}")
    return 0 if error < 1e-10 else 1


if __name__ == "__main__":
    sys.exit(main())
