# SPDX-License-Identifier: BSD-3-Clause
"""
Measures the cost of recording (huddle run --stats, huddle profile): a loop of allreduces of 1 KB on
2 bound ranks, without and with recording in turn.  recording.py [BUILD] [PAIRS] [RANKS].  Needs
Open MPI's mpirun.

With one rank there is no waiting, so other load of the machine disturbs the measurement least, and
the difference is the cost of recording a call.
"""

import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from fresh import AS_ROOT, UNLEARNED

SOURCE = r"""
#include <mpi.h>
#include <stdio.h>
enum { CALLS = 20000, TURNS = 15, COUNT = 128 };
int main(void)
{
    double in[COUNT] = { 0 }, out[COUNT], best = 1e9;
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < TURNS; turn++) {
        double start = MPI_Wtime();
        for (int i = 0; i < CALLS; i++)
            MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        double took = (MPI_Wtime() - start) / CALLS * 1e9;
        best = took < best ? took : best;
    }
    if (rank == 0)
        printf("%.2f\n", best);
    MPI_Finalize();
    return 0;
}
"""


def loop_ns(huddle, ranks, program, *options):
    """Returns the fastest of the job's turns, because other load only adds time."""
    launcher = ["mpirun", "-np", str(ranks), "--bind-to", "core", program]
    answer = subprocess.run(
        [huddle, "run", *options, "--", *launcher],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **AS_ROOT, **UNLEARNED},
    )
    return float(answer.stdout)


def interval(values):
    """Returns the median, and its 95 % interval by bootstrap."""
    source = random.Random(1)
    drawn = sorted(statistics.median(source.choices(values, k=len(values))) for _ in range(2000))
    return statistics.median(values), drawn[50], drawn[-51]


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").absolute()
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 25
    ranks = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    huddle, took = str(build / "bin" / "huddle"), {}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "loop")
        compiler = ["mpicc", "-O2", "-x", "c", "-", "-o", program]
        subprocess.run(compiler, input=SOURCE, text=True, check=True)
        order = [(), ("--record", folder)]
        for turn in range(pairs):
            for options in order if turn % 2 else reversed(order):
                took.setdefault(options, []).append(loop_ns(huddle, ranks, program, *options))
    plain, recorded = (took[options] for options in order)
    ratio = interval([b / a for a, b in zip(plain, recorded)])
    added = interval([b - a for a, b in zip(plain, recorded)])
    print(
        f"{pairs} pairs, {ranks} ranks: {statistics.median(plain):.0f} ns per call without"
        f" recording; with it {ratio[0]:.4f} of that ({ratio[1]:.4f} to {ratio[2]:.4f}),"
        f" {added[0]:.1f} ns more ({added[1]:.1f} to {added[2]:.1f})"
    )


if __name__ == "__main__":
    main()
