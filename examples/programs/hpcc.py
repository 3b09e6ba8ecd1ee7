# SPDX-License-Identifier: BSD-3-Clause
"""
HPC Challenge, from Debian's package, on a small problem, for quickstart.py on a 1 x 2 process grid.
Its own checks decide whether the run was correct.
"""

import os
import re
import tempfile

from jobs import JobFailed

# One line of hpccinf.txt each, in HPL's order; HPCC reads the first number.
INPUT = """HPLinpack benchmark input file
huddle
HPL.out output file name
8 device out
1 number of problem sizes
{n} Ns
1 number of block sizes
80 NBs
0 row-major process mapping
1 number of process grids
{rows} Ps
{columns} Qs
16.0 threshold
1 number of panel factorisations
2 PFACTs
1 number of stopping criteria
4 NBMINs
1 number of panels in recursion
2 NDIVs
1 number of recursive panel factorisations
1 RFACTs
1 number of broadcasts
1 BCASTs
1 number of lookahead depths
1 DEPTHs
2 SWAP: mix
64 swapping threshold
0 L1 transposed
0 U transposed
1 equilibration
8 memory alignment in double
##### separator #####
0 additional problem sizes for PTRANS
1200 values of N
0 additional block sizes for PTRANS
40 values of NB
"""

# Texts that its report must contain, and must not contain.  RandomAccess may lose a hundredth of
# its updates if the number of ranks is not a power of two.
WANTED = {
    "HPL residual": r"\|\|Ax-b\|\|.*PASSED",
    "HPL": r"0 tests completed and failed residual checks",
    "PTRANS": r"^WALL .* PASSED ",
    "RandomAccess": r"Found \d+ errors in \d+ locations \(passed\)",
    "STREAM": r"Solution Validates",
    "summary": r"^Success=1$",
}
FORBIDDEN = r"FAILED|\(failed\)|^Success=0$"


def checks_passed(report):
    """Returns how many checks passed.  Raises JobFailed if a check failed or is missing."""
    wrong = re.search(FORBIDDEN, report, re.MULTILINE)
    missing = [
        name for name, pattern in WANTED.items() if not re.search(pattern, report, re.MULTILINE)
    ]
    if wrong or missing:
        raise JobFailed(
            f"HPC Challenge: {wrong[0] if wrong else 'no result for ' + ', '.join(missing)}"
        )
    return len(
        re.findall(r"PASSED|\(passed\)|Solution Validates|^Success=1$", report, re.MULTILINE)
    )


def write_input(folder, problem, rows=1, columns=2):
    """Writes the input for a grid of rows x columns ranks, which run in the folder."""
    with open(os.path.join(folder, "hpccinf.txt"), "w", encoding="ascii") as file:
        file.write(INPUT.format(n=problem, rows=rows, columns=columns))


def checks_of(folder):
    with open(os.path.join(folder, "hpccoutf.txt"), encoding="utf-8", errors="replace") as file:
        return checks_passed(file.read())


def run(jobs, huddle, problem):
    """Returns (checks passed, statistics)."""
    with tempfile.TemporaryDirectory(prefix="huddle-hpcc-") as scratch:
        write_input(scratch, problem)
        _, statistics = jobs.run([*jobs.on_openmpi(2, bound=True), "hpcc"], huddle, cwd=scratch)
        return checks_of(scratch), statistics
