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

The aims were set before these measurements:

* No case takes longer than with the fastest of six other MPIs.
* The geometric mean of a collective's ratios is at most {AIM}, of a barrier's {BARRIER_AIM}. That
  counts for {", ".join(f"`{name}`" for name in AIMED)}.
* Where ranks outnumber cores the mean is at most {CROWDED_AIM}.
* Back to back, no case takes longer than with the same MPI without huddle.

A ratio is huddle's time divided by the fastest other MPI's. The head of each file has the commands,
and the MPI that huddle ran under: Open MPI 5.0.11 on 16 cores, Open MPI 4.1.4 elsewhere. *Line* is
the class of the time in which a cache line crosses between two cores; *any* is of ranks that are
not bound. A mean in bold misses its aim.
"""
OTHERS = """## Other aims

| aim | data |
| --- | --- |
| `huddle run` takes at most 5 ms; a program starts at most 3 ms later, with 2 MB a rank | [startup.csv](evidence/startup.csv), [benchmarking](benchmarking.md) |
| the first use of a team of 8 takes at most 1 ms, also of later ones | [later-teams.csv](evidence/later-teams.csv) |
| a barrier of 128 ranks of a Kunpeng takes half of the best of the papers' | simulated: [range.csv](evidence/range.csv), [published and reproduced results](reproduced.md) |
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
    return f"**{text}**" if aim and float(text) > aim else text


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
    return "\n".join((HEAD, *single_calls(), *back_to_back(), OTHERS))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit("docs/compared.md is not what the data say: run docs/evidence/compared.py")


if __name__ == "__main__":
    main()
