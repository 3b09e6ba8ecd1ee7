# SPDX-License-Identifier: BSD-3-Clause
"""Measures huddle against other MPIs: peers.csv and back-to-back.csv.

usage: build/venv/bin/python docs/evidence/peers.py [--huddle FILE] [--launches N] [FILE...]
           [--machine NAME,CORES] [--note TEXT]...

Without files it runs `huddle bench` as the heads of both files say, --launches times (default: 4).
That takes three minutes each, and wants the machine quiet.  Files are what such commands wrote with
--csv, here or on the machine that is named.  With two or three cores it measures what these can,
and with 16 or more it measures up to 16 ranks.  Then it writes peers-2-cores.csv and so on, and
with 16 or more docs/figures/peers.png.  A note becomes a line of both heads.

A line transfer differs between launches, so each MPI's figures are of the class that its own launch
had.  A case counts where huddle and all MPIs that it is compared with have figures of one class.
"""

import argparse
import csv
import datetime
import itertools
import os
import pathlib
import statistics
import subprocess
import tempfile
from collections import defaultdict

DOCS = pathlib.Path(__file__).resolve().parents[1]
PEERS = ("ompi4", "ompi4-sm", "ompi5", "mpich4", "mpich5", "intel")
OWN = {"ompi4": "ompi4", "mpich5": "mpich5"}  # with huddle, back to back
COLLECTIVES = "barrier bcast reduce allreduce reduce_scatter alltoall"
PIECES = "allgather allgatherv gather gatherv scatter scatterv scan exscan"
SINGLE = (
    f"{COLLECTIVES} --ranks 2,3,4 --bytes 8,128,1K,4K,16K,64K,256K,1M,4M,16M"
    f" --against {','.join(PEERS)}"
)
MANY = (
    f"{COLLECTIVES} --ranks 8,16 --bind none --bytes 8,1K,16K,256K,1M"
    f" --against {','.join(name for name in PEERS if name != 'ompi4-sm')}"
)
SINGLE_PIECES = (
    f"{PIECES} --ranks 2,3,4 --bytes 8,128,1K,8K,64K,256K,1M --against {','.join(PEERS)}"
)
MANY_PIECES = MANY.replace(COLLECTIVES, PIECES).replace("8,16", "8")
NONBLOCKING = (
    f"{COLLECTIVES} allgather scan --way nonblocking --ranks 2,4 --bytes 8,1K,8K,64K,1M"
    f" --against {','.join(PEERS)}"
)
NONBLOCKING_MANY = (
    f"{COLLECTIVES} allgather --way nonblocking --ranks 8 --bind none --bytes 8,1K,8K,64K,1M"
    f" --against {','.join(name for name in PEERS if name != 'ompi4-sm')}"
)
LOOPS = (
    f"{COLLECTIVES} alltoallv {PIECES} --ranks 2,4 --bytes 8,64,512,4K,32K,256K,1M"
    " --with MPI --loop 200"
)
WIDE = (
    f"{COLLECTIVES} alltoallv {PIECES} --ranks 2,4,8,16 --bytes 8,128,1K,4K,16K,64K,256K,1M"
    f" --against {','.join(name for name in PEERS if name != 'ompi4-sm')}"
)
WIDE_LOOPS = (
    f"{COLLECTIVES} alltoallv {PIECES} --ranks 4,8,16 --bytes 8,512,4K,32K,256K"
    " --with MPI --loop 200"
)
# Of line transfers: below 40 ns, below 150 ns, beyond; any: of ranks that are not bound, where it
# was not measured.
CLASSES = ("nearest", "near", "far", "any")
SINGLES = (SINGLE, MANY, SINGLE_PIECES, MANY_PIECES, NONBLOCKING, NONBLOCKING_MANY)
UNITS = ((1 << 20, "MB"), (1 << 10, "KB"), (1, "B"))
DRAWN = "near"  # class of line transfer
SHOWN = {"4": "4 ranks", "8": "8 ranks", "16": "16 ranks"}  # of the plot
COLOURS = ("#1b9e77", "#d95f02", "#7570b3")


class Machine:
    """The one that the figures are of; text: NAME,CORES, or None: this one."""

    def __init__(self, text):
        name, _, cores = (text or "").rpartition(",")
        self.cores = int(cores) if text else len(os.sched_getaffinity(0))
        self.name = name if text else processor()
        self.few, self.many = self.cores < 4, self.cores >= 16

    def fitting(self, command):
        """On so many cores: as many bound ranks as there are, and fewer unbound ones."""
        if not self.few:
            return command
        bound = ",".join(str(n) for n in (2, 3, 4) if n <= self.cores)
        command = command.replace("--ranks 2,3,4", f"--ranks {bound}")
        command = command.replace("--ranks 2,4", f"--ranks {bound}")
        return command.replace("--ranks 8,16", "--ranks 8")

    def file(self, name):
        exact = not self.few and not self.many
        return DOCS / "evidence" / (name if exact else name.replace(".", f"-{self.cores}-cores."))

    def singles(self):
        return (WIDE,) if self.many else SINGLES

    def loops(self):
        return WIDE_LOOPS if self.many else LOOPS


def commands(machine, folder, launch):
    """(file that it writes, words of the command)"""
    short = "--launches 1 --figure-ms 8"
    for number, command in enumerate(machine.singles()):
        yield folder / f"peers-{number}-{launch}.csv", f"{machine.fitting(command)} {short}".split()
    for mpi in OWN:
        loops = machine.fitting(machine.loops()).replace("MPI", mpi)
        yield folder / f"loops-{mpi}-{launch}.csv", f"{loops} {short}".split()


def measure(machine, huddle, launches, folder):
    for launch in range(launches):
        for path, words in commands(machine, folder, launch):
            print("huddle bench", *words, flush=True)
            run = [huddle, "bench", *words, "--csv", str(path)]
            subprocess.run(run, check=False, stdout=subprocess.DEVNULL)
            if path.exists():
                yield path


def rows_of(path):
    """Figures of one run.  Of MPIs that a run compares, all have one launch."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows = [row for row in rows if row["class"] and float(row["median_ns"]) > 0]
    return [row for row in rows if not int(row["wrong"]) | int(row["refused"])]


def cell(row):
    return row["ranks"], row["bind"], row["class"], row["collective"], int(row["bytes"])


def order(key):
    ranks, _, line, collective, size = key
    names = [*COLLECTIVES.split(), "alltoallv", *PIECES.split()]
    names += [f"i{name}" for name in names]
    return int(ranks), CLASSES.index(line), names.index(collective), size


def figure(value):
    """Three digits, without a zero before the point."""
    text = f"{value:.3g}"
    return text[1:] if text.startswith("0.") else text


def versions(runs):
    """Of the MPI of each variant; huddle may have been under several."""
    found = defaultdict(set)
    for row in itertools.chain.from_iterable(runs):
        if row["mpi"]:
            found[row["variant"]].add(" ".join(row["mpi"].split()))
    return "; ".join(
        f"{name}: {' and '.join(sorted(mpis))}" for name, mpis in sorted(found.items())
    )


def lines_ns(runs):
    found = defaultdict(list)
    for rows in runs:
        for row in rows:
            found[row["class"]].append(float(row["line_before_ns"]))
    lines = ((name, statistics.median(found[name])) for name in CLASSES if name in found)
    return ", ".join(f"{name} {ns:.0f} ns" for name, ns in lines)


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else "unknown processor"


class Table:
    """A file that is written, or drawn."""

    def __init__(self, machine, name, about, notes):
        self.machine, self.path = machine, machine.file(name)
        self.about, self.notes = about, notes

    def write(self, runs, commands_of_it, columns, rows):
        machine = self.machine
        head = [
            self.about,
            f"Measured {datetime.date.today()} on {machine.name}, {machine.cores} processors,",
            "by build/venv/bin/python docs/evidence/peers.py, which runs",
            *(f"  huddle bench {machine.fitting(command)}" for command in commands_of_it),
            *self.notes,
            f"class: of the line transfer between the farthest two ranks; {lines_ns(runs)}.",
            versions(runs),
        ]
        with open(self.path, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {line}\n" for line in head)
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)


def compared(runs):
    """(ranks, bind, collective) -> the MPIs that huddle is compared with."""
    found = defaultdict(set)
    for rows in runs:
        for row in rows:
            if row["variant"] in PEERS:
                found[row["ranks"], row["bind"], row["collective"]].add(row["variant"])
    return found


def single_calls(runs):
    """
    peers.csv: medians of launches of huddle, and of the fastest peer; of how many launches at least
    any of them is.
    """
    times = defaultdict(lambda: defaultdict(list))
    for rows in runs:
        for row in rows:
            times[cell(row)][row["variant"]].append(float(row["median_ns"]))
    all_of = compared(runs)
    for key in sorted(times, key=order):
        of = {variant: statistics.median(values) for variant, values in times[key].items()}
        peers = {variant: ns for variant, ns in of.items() if variant in PEERS}
        if "huddle" in of and set(peers) == all_of[key[0], key[1], key[3]]:
            peer = min(peers, key=peers.get)
            launches = min(map(len, times[key].values()))
            us = figure(of["huddle"] / 1000), figure(peers[peer] / 1000)
            yield [*key, *us, figure(of["huddle"] / peers[peer]), peer, launches]


def loops(runs):
    """back-to-back.csv: medians of launches, of the MPI's time with huddle by that without."""
    ratios = defaultdict(list)
    for rows in runs:
        mpi = next(row["variant"] for row in rows if row["variant"] in OWN)
        without = {cell(row): float(row["median_ns"]) for row in rows if row["variant"] == mpi}
        for row in rows:
            if row["variant"] == "huddle" and cell(row) in without:
                ratios[mpi, *cell(row)].append(float(row["median_ns"]) / without[cell(row)])
    for mpi, *key in sorted(ratios, key=lambda of: (of[0], order(of[1:]))):
        values = ratios[mpi, *key]
        yield [mpi, *key, figure(statistics.median(values)), len(values)]


def means(rows, key, ratio):
    """Printed: what the documents name."""
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(float(row[ratio]))
    for name, values in groups.items():
        mean, worst = statistics.geometric_mean(values), max(values)
        print(*name, f"mean {figure(mean)}, worst {figure(worst)}")


def speeds(rows, collective, ranks):
    """Sizes in bytes, and the peer's time by huddle's."""
    return sorted(
        (int(row["bytes"]), 1 / float(row["ratio"]))
        for row in rows
        if (row["collective"], row["ranks"], row["class"]) == (collective, ranks, DRAWN)
    )


def draw_collective(axes, rows, collective):
    axes.axhline(1, color="black", linewidth=1)
    for colour, ranks in zip(COLOURS, SHOWN):
        line = speeds(rows, collective, ranks)
        axes.plot(*zip(*line), marker="o", markersize=3, color=colour)
    axes.set_title(collective, fontsize=10)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    if collective == "barrier":
        axes.set_xticks([])
        return
    axes.set_xscale("log", base=2)
    axes.set_xlim(4, 2 << 20)
    axes.set_xticks([8, 128, 1 << 10, 16 << 10, 1 << 20])
    axes.xaxis.set_major_formatter(lambda x, _: short(int(x)))


def short(size):
    return next((f"{size // factor} {unit}" for factor, unit in UNITS if size >= factor), "0")


def draw(table):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.lines import Line2D

    with open(table.path, encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    names = f"{COLLECTIVES} alltoallv {PIECES}".split()
    picture, axes = pyplot.subplots(4, 4, figsize=(12, 10), sharey=True, layout="constrained")
    for panel, name in zip(axes.flat, names):
        draw_collective(panel, rows, name)
    for panel in axes.flat[len(names) :]:
        panel.axis("off")
    lines = [Line2D([], [], color=colour, marker="o") for colour in COLOURS]
    axes.flat[len(names)].legend(lines, SHOWN.values(), loc="center")
    picture.supylabel("speed compared with the fastest of five other MPIs (1: equal)")
    picture.suptitle(
        f"{table.machine.cores} cores: single calls, fresh data, slowest rank", fontsize=11
    )
    picture.savefig(DOCS / "figures/peers.png", dpi=100)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("--huddle", default=str(DOCS.parent / "build/bin/huddle"))
    parser.add_argument("--launches", type=int, default=4)
    parser.add_argument("--machine", type=Machine, default=None)
    parser.add_argument("--note", action="append", default=[])
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    machine = options.machine or Machine(None)
    with tempfile.TemporaryDirectory() as folder:
        made = options.files or measure(
            machine, options.huddle, options.launches, pathlib.Path(folder)
        )
        runs = [rows_of(path) for path in made]
    single = [rows for rows in runs if {row["variant"] for row in rows} - {"huddle", *OWN}]
    looped = [rows for rows in runs if rows not in single]
    under = next((r["mpi"] for rows in single for r in rows if r["variant"] == "huddle"), "no MPI")
    about = f"One collective: huddle under {under}, and the fastest peer; medians of launches."
    peers = Table(machine, "peers.csv", about, options.note)
    peers.write(
        single,
        machine.singles(),
        "ranks,bind,class,collective,bytes,huddle_us,peer_us,ratio,peer,launches".split(","),
        found := list(single_calls(single)),
    )
    means(found, lambda row: (row[3], row[0], row[2]), 7)
    about = "Calls back to back: time with huddle by the same MPI's without; medians of launches."
    Table(machine, "back-to-back.csv", about, options.note).write(
        looped,
        (machine.loops(),),
        "mpi,ranks,bind,class,collective,bytes,ratio,launches".split(","),
        found := list(loops(looped)),
    )
    means(found, lambda row: (row[0], row[4], row[1], row[3]), 6)
    if machine.many:
        draw(peers)


if __name__ == "__main__":
    main()
