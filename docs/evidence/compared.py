# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/compared.md: every comparison with other MPIs, by collective, from the data here.

usage: build/venv/bin/python docs/evidence/compared.py [--check]

A group has one machine, number of ranks and class of line transfer.  Of each of its collectives it
has cases, how many took longer, the geometric mean of the ratios, and the slowest case.  --check:
writes nothing, and fails if the page is not what the data say.
"""

import argparse
import csv
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "compared.md"
MACHINES = {  # of the ends of names of files
    "-16-cores": "16 cores of a Xeon",
    "": "4 cores of an EPYC",
    "-2-cores": "2 cores of a Xeon",
    "-2-cores-epyc": "2 cores of an EPYC",
}
AIM, BARRIER_AIM, CROWDED_AIM = 0.75, 0.8, 0.6  # geometric means
AIMED = "barrier bcast reduce allreduce reduce_scatter alltoall".split()
HEAD = f"""# Compared with other MPIs

Written by `docs/evidence/compared.py` from [the data](evidence/README.md).

The aims were set before these measurements. Ratios are huddle's time divided by the fastest other
MPI's.

* No case takes longer than with the fastest other MPI.
* The geometric mean of a collective's ratios is at most {AIM}, of a barrier's {BARRIER_AIM}. That
  counts for {", ".join(f"`{name}`" for name in AIMED)}.
* Where ranks outnumber cores the mean is at most {CROWDED_AIM}.
* Back to back, no case takes longer than with the same MPI without huddle.

The head of each file has the commands, and the MPIs: six, or five of them where ranks are not bound
and on 16 cores. huddle ran under Open MPI 5.0.11 on 16 cores, under Open MPI 4.1.4 elsewhere.
Nonblocking collectives have an `i` before their name. *Line* is the class of the time in which a
cache line crosses between two cores; *any* is of ranks that are not bound. A mean in bold misses
its aim.
"""
OTHERS = """| other aims | where the figures are |
| --- | --- |
| the first use of a team of 8 takes at most 1 ms more than its two allgathers | later teams: [later-teams.csv](evidence/later-teams.csv) |
| a barrier of 128 ranks of a Kunpeng takes half of the best of the papers' | missed, simulated: [published and reproduced results](reproduced.md) |
| no case from 16 KB takes 1.05 times as long as a plain form | [bare-16-cores.csv](evidence/bare-16-cores.csv), [benchmarking](benchmarking.md) |
"""


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def grouped(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def mean(rows):
    return math.exp(sum(math.log(float(row["ratio"])) for row in rows) / len(rows))


def slower(rows):
    return sum(float(row["ratio"]) > 1 for row in rows)


def aim_of(collective, crowded):
    """None: it has none, as what is nonblocking."""
    if collective not in AIMED:
        return None
    return CROWDED_AIM if crowded else BARRIER_AIM if collective == "barrier" else AIM


def mean_text(rows, aim):
    text = f"{mean(rows):.2f}"
    return f"**{text}**" if aim and mean(rows) > aim else text


def size_text(size):
    for unit, name in ((1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


def slowest_text(rows):
    worst = max(rows, key=lambda row: float(row["ratio"]))
    against = f", {worst['peer']}" if "peer" in worst else ""
    size = f"{size_text(int(worst['bytes']))}: " if int(worst["bytes"]) else ""
    return f"{size}{float(worst['ratio']):.2f}{against}"


def of_group(rows):
    """Lines of a table: collectives in the order of the data."""
    for collective, cases in grouped(rows, lambda row: row["collective"]).items():
        aim = aim_of(collective, cases[0]["bind"] == "none")
        yield (
            f"| `{collective}` | {len(cases)} | {slower(cases)} | {mean_text(cases, aim)}"
            f" | {slowest_text(cases)} |"
        )


def heading_of(machine, row):
    ranks = f"{row['ranks']} ranks" + (", not bound" if row["bind"] == "none" else "")
    return f"### {machine}, {ranks}, line {row['class']}"


def of_aim(name, values, most):
    """A line: how many values are no more than that."""
    good = sum(value <= most for value in values)
    verdict = "reached" if good == len(values) else "missed"
    return f"| {name} | {verdict}: {good} of {len(values)} |"


def ratios(rows):
    return [float(row["ratio"]) for row in rows]


def means_of(rows, crowded):
    """{aim: the means that have it}."""
    found = {}
    for group in grouped(
        rows, lambda r: (r["machine"], r["ranks"], r["bind"], r["class"], r["collective"])
    ).values():
        aim = aim_of(group[0]["collective"], crowded)
        if aim and (group[0]["bind"] == "none") == crowded:
            found.setdefault(aim, []).append(mean(group))
    return found


def of_start():
    """Lines of what huddle adds to a start."""
    figures = {
        (r["what"], r["figure"]): float(r["median"])
        for r in rows_of(HERE / "startup.csv")
        if r["build"] == "huddle"
    }
    starts = [figures[f"{mpi}, 2 ranks", "wall"] for mpi in ("openmpi", "mpich")]
    memory = [figures[f"{mpi}, 2 ranks", "private"] / 1024 for mpi in ("openmpi", "mpich")]
    data = "[data](evidence/startup.csv)"
    yield of_aim(f"`huddle run` takes at most 5 ms ({data})", [figures["huddle run", "wall"]], 5)
    yield of_aim(
        f"a program of 2 ranks starts at most 3 ms later, under two MPIs ({data})", starts, 3
    )
    yield of_aim(f"with at most 2 MB more memory a rank ({data})", memory, 2)


def aims():
    single, loops = (
        [
            {**row, "machine": machine}
            for suffix, machine in MACHINES.items()
            for row in rows_of(HERE / f"{name}{suffix}.csv")
        ]
        for name in ("peers", "back-to-back")
    )
    is_nonblocking = {True: [], False: []}
    for row in single:
        is_nonblocking[row["collective"].startswith("i")].append(row)
    means = means_of(single, False)
    yield "## Aims\n\n" + "\n".join(
        (
            "| aim | cases, means or MPIs that reach it |",
            "| --- | --- |",
            of_aim("no blocking case takes longer", ratios(is_nonblocking[False]), 1),
            of_aim("no nonblocking case takes longer", ratios(is_nonblocking[True]), 1),
            of_aim(f"means of collectives at most {AIM}", means[AIM], AIM),
            of_aim(f"means of barriers at most {BARRIER_AIM}", means[BARRIER_AIM], BARRIER_AIM),
            of_aim(
                f"means at most {CROWDED_AIM} where ranks outnumber cores",
                means_of(single, True)[CROWDED_AIM],
                CROWDED_AIM,
            ),
            of_aim("no case takes longer back to back", ratios(loops), 1),
            *of_start(),
        )
    ) + "\n"


def single_calls():
    yield "## Single calls\n"
    for suffix, machine in MACHINES.items():
        rows = rows_of(HERE / f"peers{suffix}.csv")
        for group in grouped(rows, lambda r: (int(r["ranks"]), r["bind"], r["class"])).values():
            yield f"{heading_of(machine, group[0])}\n\n" + "\n".join(
                (
                    "| collective | cases | slower | mean | slowest case |",
                    "| --- | --- | --- | --- | --- |",
                    *of_group(group),
                )
            ) + "\n"


def back_to_back():
    yield "## Back to back\n\n" + "\n".join(
        (
            "| machine | MPI | ranks | line | cases | slower | mean | slowest case |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
            *(
                f"| {machine} | {group[0]['mpi']} | {group[0]['ranks']} | {group[0]['class']}"
                f" | {len(group)} | {slower(group)} | {mean(group):.2f}"
                f" | `{max(group, key=lambda r: float(r['ratio']))['collective']}`"
                f" {slowest_text(group)} |"
                for suffix, machine in MACHINES.items()
                for group in grouped(
                    rows_of(HERE / f"back-to-back{suffix}.csv"),
                    lambda r: (r["mpi"], int(r["ranks"]), r["class"]),
                ).values()
            ),
        )
    ) + "\n"


def page():
    return "\n".join((HEAD, *aims(), OTHERS, *single_calls(), *back_to_back()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit("docs/compared.md is not what the data say: run docs/evidence/compared.py")


if __name__ == "__main__":
    main()
