# SPDX-License-Identifier: BSD-3-Clause
"""Measures huddle against other MPIs: peers.csv and back-to-back.csv.

usage: build/venv/bin/python lab/evidence/peers.py [--huddle FILE] [--minutes M] [FILE...]
           [--machine NAME,CORES] [--note TEXT]...
       build/venv/bin/python lab/evidence/peers.py --plot

Without files it runs the `huddle bench --summary` commands in the heads of both files, each for at
most --minutes minutes (default: 120), and requires a quiet machine.  Files are results of such
commands with --csv, from this machine or from the machine named by --machine.  Then it writes
peers.csv and back-to-back.csv for four cores, peers-2-cores.csv and so on for other numbers.  A
note becomes a line of both heads.  --plot draws peers-16-cores.csv, as build/plots/peers.svg; it
runs nothing.

`huddle bench --summary` decides which figures are compared (docs/benchmarking.md).
"""

import argparse
import csv
import datetime
import json
import os
import pathlib
import subprocess
import tempfile
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLOT = ROOT / "build/plots/peers.svg"
COLLECTIVES = "barrier bcast reduce allreduce reduce_scatter alltoall"
PIECES = "allgather allgatherv gather gatherv scatter scatterv scan exscan"
COMMANDS = (
    f"--summary {COLLECTIVES} alltoallv {PIECES}",
    f"--summary {COLLECTIVES} allgather scan --way nonblocking --ranks 2,4,8",
)
UNITS = ((1 << 20, "MB"), (1 << 10, "KB"), (1, "B"))
DRAWN = "near"  # the class of line transfers in the plot
DRAWN_CORES = 16
SHOWN = {"4": "4 ranks", "8": "8 ranks", "16": "16 ranks"}  # labels of the plot
COLOURS = ("#1b9e77", "#d95f02", "#7570b3")
SETTING = ("ranks", "bind", "root")
SINGLE_COLUMNS = "class,collective,bytes,huddle_us,host,peer_us,ratio,peer,launches"
LOOP_COLUMNS = "class,collective,bytes,ratio,launches"


class Machine:
    """The machine of the figures, from a text NAME,CORES, or this machine if the text is None."""

    def __init__(self, text):
        name, _, cores = (text or "").rpartition(",")
        self.cores = int(cores) if text else len(os.sched_getaffinity(0))
        self.name = name if text else processor()

    def file(self, name):
        exact = 4 <= self.cores < 16
        return (
            ROOT / "lab/evidence" / (name if exact else name.replace(".", f"-{self.cores}-cores."))
        )


def measure(huddle, minutes, folder):
    """Yields the files of all commands."""
    for number, command in enumerate(COMMANDS):
        path = folder / f"{number}.csv"
        words = [huddle, "bench", *command.split(), "--minutes", str(minutes), "--csv", str(path)]
        print(*words, flush=True)
        subprocess.run(words, check=False)
        if path.exists():
            yield path


def summary_of(huddle, files, folder):
    """Returns (cases, figures) of files with figures, as `huddle bench --summary` prints them."""
    path = folder / "summary.json"
    added = [word for file in files for word in ("--add", str(file))]
    words = [huddle, "bench", "--summary", "--minutes", "0", *added, "--json", str(path)]
    subprocess.run(words, check=True)
    found = json.loads(path.read_text(encoding="utf-8"))
    return found["rows"], found["samples"]


def figure(value):
    """Formats a value with three digits, without a zero before the point."""
    text = f"{value:.3g}"
    return text[1:] if text.startswith("0.") else text


def versions(samples):
    """Returns the versions of each variant's MPI, as text."""
    found = defaultdict(set)
    for sample in samples:
        found[sample["variant"]].add(" ".join(sample["mpi"].split()))
    return "; ".join(
        f"{name}: {' and '.join(sorted(mpis))}" for name, mpis in sorted(found.items())
    )


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else "unknown processor"


class Table:
    """A table of figures, written to a file or drawn."""

    def __init__(self, machine, name, about, notes):
        self.machine, self.path = machine, machine.file(name)
        self.about, self.notes = about, notes

    def write(self, samples, columns, rows):
        head = [
            self.about,
            f"Measured {datetime.date.today()} on {self.machine.name}, {self.machine.cores}"
            " processors,",
            "by build/venv/bin/python lab/evidence/peers.py, which runs",
            *(f"  huddle bench {command}" for command in COMMANDS),
            *self.notes,
            "class: of the line transfer between the farthest two ranks, or processors.",
            versions(samples),
        ]
        with open(self.path, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {line}\n" for line in head)
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)


def of_case(case):
    """Returns the first fields of a row in both files, after the MPI."""
    setting = (case["setting"][name] for name in SETTING)
    return [*setting, case["line"], case["collective"], case["bytes"]]


def single_calls(cases):
    """Yields the rows of peers.csv: the slower of huddle's MPIs, and the fastest peer."""
    for case in cases:
        if case["ratio"] and not case["setting"]["loop"]:
            ours, peers = figure(case["huddle_ns"] / 1000), figure(case["peer_ns"] / 1000)
            whose = case["host"], peers, figure(case["ratio"]), case["peer"], case["launches"]
            yield [*of_case(case), ours, *whose]


def loops(cases):
    """
    Yields the rows of back-to-back.csv: an MPI's time with huddle relative to its time without.
    """
    for case in cases:
        for mpi, ratio in case["own"].items() if case["setting"]["loop"] else ():
            yield [mpi, *of_case(case), figure(ratio), case["launches"]]


def speeds(rows, collective, ranks):
    """Returns sizes in bytes, each with the peer's time relative to huddle's."""
    return sorted(
        (int(row["bytes"]), 1 / float(row["ratio"]))
        for row in rows
        if (row["collective"], row["ranks"], row["class"]) == (collective, ranks, DRAWN)
        and row.get("root", "shift") == "shift"
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


def draw(path, plot=PLOT):
    """Draws a file peers-*.csv."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "peers"})
    from matplotlib import pyplot
    from matplotlib.lines import Line2D

    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    names = f"{COLLECTIVES} alltoallv {PIECES}".split()
    picture, axes = pyplot.subplots(4, 4, figsize=(12, 10), sharey=True, layout="constrained")
    for panel, name in zip(axes.flat, names):
        draw_collective(panel, rows, name)
    for panel in axes.flat[len(names) :]:
        panel.axis("off")
    lines = [Line2D([], [], color=colour, marker="o") for colour in COLOURS]
    axes.flat[len(names)].legend(lines, SHOWN.values(), loc="center")
    picture.supylabel("speed compared with the fastest other MPI (1: equal)")
    picture.suptitle(f"{DRAWN_CORES} cores: single calls, fresh data, slowest rank", fontsize=11)
    plot.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(plot, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("--huddle", default=str(ROOT / "build/bin/huddle"))
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--machine", type=Machine, default=None)
    parser.add_argument("--note", action="append", default=[])
    parser.add_argument("--plot", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.plot:
        draw(Machine(f",{DRAWN_CORES}").file("peers.csv"))
        return
    machine = options.machine or Machine(None)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = options.files or list(measure(options.huddle, options.minutes, folder))
        cases, samples = summary_of(options.huddle, files, folder)
    about = (
        "One collective: huddle under the slower MPI, and the fastest peer; medians of launches."
    )
    table = Table(machine, "peers.csv", about, options.note)
    table.write(samples, [*SETTING, *SINGLE_COLUMNS.split(",")], single_calls(cases))
    about = "Calls back to back: time with huddle by the same MPI's without; medians of launches."
    table = Table(machine, "back-to-back.csv", about, options.note)
    table.write(samples, ["mpi", *SETTING, *LOOP_COLUMNS.split(",")], loops(cases))


if __name__ == "__main__":
    main()
