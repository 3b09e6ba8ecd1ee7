# SPDX-License-Identifier: BSD-3-Clause
"""
What recording costs (huddle run --stats, huddle profile): a loop of allreduces of 1 KB on 2 bound
ranks, without and with it in turn.  recording.py [BUILD] [PAIRS].  Needs Open MPI's mpirun.
"""

import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

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
AS_ROOT = {f"OMPI_ALLOW_RUN_AS_ROOT{end}": "1" for end in ("", "_CONFIRM")}


def loop_ns(huddle, program, *options):
    """The fastest of the job's turns: other load of the machine only adds."""
    launcher = ["mpirun", "-np", "2", "--bind-to", "core", program]
    answer = subprocess.run(
        [huddle, "run", *options, "--", *launcher],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **AS_ROOT},
    )
    return float(answer.stdout)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").absolute()
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 25
    huddle, ratios, plain = str(build / "bin" / "huddle"), [], []
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "loop")
        compiler = ["mpicc", "-O2", "-x", "c", "-", "-o", program]
        subprocess.run(compiler, input=SOURCE, text=True, check=True)
        for turn in range(pairs):
            order = [(), ("--record", folder)]
            took = {
                options: loop_ns(huddle, program, *options)
                for options in (order if turn % 2 else reversed(order))
            }
            plain.append(took[()])
            ratios.append(took[order[1]] / took[()])
    source = random.Random(1)
    drawn = sorted(statistics.median(source.choices(ratios, k=len(ratios))) for _ in range(2000))
    print(
        f"{pairs} pairs: {statistics.median(plain):.0f} ns per call without recording; with it"
        f" {statistics.median(ratios):.4f} of that ({drawn[50]:.4f} to {drawn[-51]:.4f})"
    )


if __name__ == "__main__":
    main()
