# SPDX-License-Identifier: BSD-3-Clause
"""
LAMMPS, from Debian's package, on its benchmark of a Lennard-Jones liquid (bench/in.lj), smaller and
with a line of thermodynamics every ten steps.
"""

import os
import re
import tempfile

from jobs import JobFailed

INPUT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {n} 0 {n} 0 {n}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 10
run {steps}
"""
CELLS = 10  # cells along an edge, with 4 atoms in each
THERMO = re.compile(
    r"^Step Temp E_pair E_mol TotEng Press *\n((?: +[-\d.e+]+)+ *\n)+", re.MULTILINE
)


def thermodynamics(output, steps):
    """Returns the lines of the table of steps, unchanged."""
    found = THERMO.search(output)
    lines = found[0].strip().split("\n") if found else []
    if len(lines) != 2 + steps // 10:
        raise JobFailed(f"LAMMPS: {len(lines)} lines of thermodynamics, expected {2 + steps // 10}")
    return lines


def run(jobs, huddle, steps):
    """Returns (lines of thermodynamics, statistics)."""
    with tempfile.TemporaryDirectory(prefix="huddle-lammps-") as scratch:
        file = os.path.join(scratch, "in.lj")
        with open(file, "w", encoding="ascii") as written:
            written.write(INPUT.format(n=CELLS, steps=steps))
        output, statistics = jobs.run(
            [*jobs.on_openmpi(2, bound=True), "lmp", "-in", file, "-log", "none"],
            huddle,
            cwd=scratch,
        )
        return thermodynamics(output, steps), statistics
