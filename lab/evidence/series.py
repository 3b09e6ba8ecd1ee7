# SPDX-License-Identifier: BSD-3-Clause
"""Makes the series of evidence again: data, index; and draws plots of them.

usage: build/venv/bin/python lab/evidence/series.py [OPTIONS] [NUMBER...]

Runs the commands in series.toml for a number (default: for all simulated numbers), and writes
NUMBER.csv.  A simulation gives the same figures everywhere; `huddle bench` measures
this machine, which must be quiet.

  --plots        draws the existing data, as build/plots/NUMBER.svg; runs nothing
  --heads        writes the head lines and the table of lab/docs/evidence.md; runs nothing
  --commands     prints the commands; runs nothing
  --reduced      runs one size of the first two commands, quickly, to test that they work
  --folder DIR   writes there instead of next to this file
  --jobs N       simulations at a time (default: 2)
  --huddle FILE  the command (default: build/bin/huddle)
"""

import argparse
import csv
import io
import itertools
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLOTS = ROOT / "build/plots"
COLUMNS = "collective,ranks,regime,bytes,algorithm,us,line_ns,kind,machine".split(",")
# One launch of unbound ranks has figures even on a busy machine.
BRIEFLY = ["--launches", "1", "--figure-ms", "5", "--bind", "none"]
DENSE = 6  # maximum number of panels of a plot whose points have markers
MAPS = {
    "core": "bound",
    "numa": "bound to NUMA nodes in turn",
    "socket": "bound to sockets in turn",
}
PYTHON = "build/venv/bin/python lab/evidence/series.py"
WIDE = (
    20  # ratio of the longest to the shortest time of a panel above which its scale is logarithmic
)


def load():
    with open(HERE / "series.toml", "rb") as file:
        return tomllib.load(file)


def commands_of(series):
    """Yields the commands of each run, with every combination of the values in its lists."""
    for run in series["run"]:
        lists = {key: values for key, values in run.items() if key != "command"}
        for values in itertools.product(*lists.values()):
            command = run["command"].format(**dict(zip(lists, values)))
            yield " ".join(command.split())


def option(words, name, otherwise=None):
    return words[words.index(name) + 1] if name in words else otherwise


def reduced(command):
    words = shlex.split(command)
    if "--bytes" in words:
        at = words.index("--bytes") + 1
        words[at] = words[at].split(",")[0]
    return shlex.join(words + (BRIEFLY if "bench" in words else []))


def written(count):
    for unit, factor in (("M", 1 << 20), ("K", 1 << 10)):
        if count and count % factor == 0:
            return f"{count // factor}{unit}"
    return str(count)


def number_of(text):
    """Converts '64K' to 65536."""
    return int(text.rstrip("KM")) * {"K": 1 << 10, "M": 1 << 20}.get(text[-1], 1)


def us_text(ns):
    return f"{ns / 1000:.3g}" if ns < 999500 else f"{ns / 1000:.0f}"


def answer_of(huddle, command):
    """Runs a command and returns its JSON; `huddle bench` writes the JSON to a file."""
    words = shlex.split(command)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "answer.json"
        words[words.index("huddle")] = huddle
        words += ["--json"] if "simulate" in words else ["--json", str(path)]
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(f"series.py: {command}: {done.stderr.strip() or done.stdout.strip()}")
        return json.loads(path.read_text(encoding="utf-8") if path.exists() else done.stdout)


def given(words, collective, algorithm):
    """Returns the parameters of the algorithm that a command sets."""
    prefix = f"huddle_lab_{collective}_{algorithm}_"
    pairs = [after for word, after in zip(words, words[1:]) if word in ("--param", "--set")]
    return [
        f"{name.lower().removeprefix(prefix)}={value}"
        for name, _, value in (pair.partition("=") for pair in pairs)
    ]


def simulated_rows(words, answer):
    regime = MAPS[option(words, "--map", "core")]
    regime += ", back to back" if option(words, "--method") == "loop" else ""
    regime += f", root {option(words, '--root')}" if "--root" in words else ""
    for call in answer["calls"]:
        name = [call["algorithm"], *given(words, call["collective"], call["algorithm"])]
        yield [
            call["collective"],
            call["ranks"],
            regime,
            written(call["bytes"]),
            " ".join(name),
            us_text(call["times"]["time_ns"]),
            "",
            "simulated",
            answer["machine"]["name"],
        ]


def measured_rows(words, answer):
    cores = answer["machine"]["cores"]
    allowed = option(words, "-c")  # option of taskset
    cores = len(allowed.split(",")) if allowed else cores
    for row, label, cell in (
        (one, *pair) for one in answer["rows"] for pair in one["cells"].items()
    ):
        algorithm = label.removeprefix("huddle").strip()
        yield [
            row["collective"],
            row["ranks"],
            "oversubscribed" if row["ranks"] > cores else "bound",
            written(row["bytes"]),
            " ".join([algorithm, *given(words, row["collective"], algorithm)]),
            us_text(cell["median_ns"]),
            f"{row['line_ns']:.0f}" if row["line_ns"] else "",
            "measured",
            f"{answer['machine']['processor']}, {answer['machine']['cores']} cores",
        ]


def rows_of(huddle, command):
    words, answer = shlex.split(command), answer_of(huddle, command)
    rows = simulated_rows if "simulate" in words else measured_rows
    return list(rows(words, answer))


def head(name, series, state, notes):
    """Returns the lines before the table.  `state` describes how its figures were obtained."""
    lines = [f"{name}: {series['title']}.", *state, *(f"  {c}" for c in commands_of(series))]
    return "".join(f"# {line}\n" for line in [*lines, *notes])


def made(name, series):
    how = "Simulated" if series["kind"] == "simulated" else "Measured"
    return [f"{how} by: {PYTHON} {name}, which runs"]


def own_notes(series):
    return [f"| {note}" for note in series.get("notes", ())]


def read(name, folder=HERE):
    """Returns (head lines, rows) of a number's file."""
    lines = (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    return (
        [line for line in lines if line.startswith("#")],
        list(csv.DictReader(line for line in lines if not line.startswith("#"))),
    )


def write(name, text, rows, folder):
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([COLUMNS, *rows])
    (folder / f"{name}.csv").write_text(text + out.getvalue(), encoding="utf-8")


def head_of(name, series):
    return head(name, series, made(name, series), own_notes(series))


def write_head(name, series):
    table = [[row[column] for column in COLUMNS] for row in read(name)[1]]
    write(name, head_of(name, series), table, HERE)


def make(name, series, options):
    commands = list(commands_of(series))
    if options.reduced:
        commands = [reduced(command) for command in commands[:2]]
    jobs = options.jobs if series["kind"] == "simulated" else 1
    with ThreadPoolExecutor(jobs) as pool:
        parts = pool.map(rows_of, itertools.repeat(options.huddle), commands)
        rows = list(itertools.chain.from_iterable(parts))
    write(name, head_of(name, series), rows, options.folder)


# ---- plots ----


def span(text):
    """Converts '9.6-9.9' to (9.6, 9.9)."""
    found = [float(part) for part in text.split("-")]
    return found[0], found[-1]


def panels_of(rows):
    """
    Returns (machine, ranks, regime, collective) -> algorithm -> [(bytes, minimum us, maximum us)].
    """
    panels = {}
    for row in rows:
        ranks = f"{row['ranks']} ranks" if row["ranks"].isdigit() else row["ranks"]
        key = f"{row['machine']}, {row['collective']}\n{ranks}, {row['regime']}"
        lines = panels.setdefault(key, {})
        lines.setdefault(row["algorithm"], []).append((row["bytes"], *span(row["us"])))
    return panels


def draw_panel(axis, lines, looks):
    from matplotlib import ticker

    sizes = sorted({point[0] for points in lines.values() for point in points}, key=number_of)
    for name, points in lines.items():
        points = sorted(points, key=lambda point: number_of(point[0]))
        x = [sizes.index(size) for size, _, _ in points]
        middle = [(least + most) / 2 for _, least, most in points]
        axis.plot(x, middle, label=name, lw=1.2, ms=4, **looks[name])
        for place, (_, least, most) in zip(x, points):
            if least < most:
                axis.vlines(place, least, most, lw=1.2, color=looks[name]["color"])
    step = -(-len(sizes) // 6)  # there is not enough space for all
    axis.set_xticks(range(0, len(sizes), step), sizes[::step], fontsize=7)
    ends = [us for points in lines.values() for point in points for us in point[1:]]
    if max(ends) > WIDE * min(ends):
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 3)))
        axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda us, _: f"{us:g}"))
        axis.yaxis.set_minor_locator(ticker.NullLocator())
    else:
        axis.set_ylim(0, 1.1 * max(ends))
        axis.yaxis.set_major_locator(ticker.MaxNLocator(5))
    axis.tick_params(axis="y", which="both", labelsize=7)
    axis.grid(color="#ececec")
    axis.spines[["top", "right"]].set_visible(False)


def short(svg):
    """
    Halves the bytes of an SVG: one decimal, no indentation, no names of groups, a line per tag.
    """
    svg = re.sub(r"(\d\.\d)\d+", r"\1", svg)
    svg = re.sub(r"^ +", "", svg, flags=re.MULTILINE)
    svg = re.sub(r"(?<!>)\n", " ", svg)
    return re.sub(r' id="[a-z_.0-9]+_\d+"', "", svg)


def draw(name, series, folder, to):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": name, "font.sans-serif": ["DejaVu Sans"]}
    )
    from matplotlib import pyplot

    panels = panels_of(read(name, folder)[1])
    names = list(dict.fromkeys(algorithm for lines in panels.values() for algorithm in lines))
    looks = {n: {"marker": "osD^vPX*"[i % 8], "color": f"C{i % 10}"} for i, n in enumerate(names)}
    if len(panels) > DENSE:
        looks = {name: {**look, "marker": ""} for name, look in looks.items()}
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    size = (max(6, 2.9 * columns), 2.3 * rows + 0.9)
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    for axis, (title, lines) in zip(axes.flat, panels.items()):
        draw_panel(axis, lines, looks)
        axis.set_title(title, fontsize=7)
    shown = {
        label: handle
        for axis in axes.flat[: len(panels)]
        for handle, label in zip(*axis.get_legend_handles_labels())
    }
    figure.legend(shown.values(), shown, loc="outside lower center", ncols=3, fontsize=7)
    figure.suptitle(f"{name}: {series['title']} ({series['kind']}; us over bytes)", fontsize=9)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    to.mkdir(parents=True, exist_ok=True)
    (to / f"{name}.svg").write_text(short(text.getvalue()), encoding="utf-8")


# ---- the index ----


def index_text(all_series):
    lines = ["| Number | What it shows | Kind | Data made by |", "|---|---|---|---|"]
    for name, series in all_series.items():
        lines.append(
            f"| [{name}](../evidence/{name}.csv) | {series['title']} | {series['kind']} |"
            f" `series.py {name}` |"
        )
    return "\n".join(lines) + "\n"


def write_index(all_series):
    path = HERE.parent / "docs" / "evidence.md"
    text = path.read_text(encoding="utf-8")
    table = re.compile(r"^\| Number .*?\n(?!\|)", re.DOTALL | re.MULTILINE)
    path.write_text(
        table.sub(lambda _: index_text(all_series), f"{text}\n").rstrip("\n") + "\n",
        encoding="utf-8",
    )


def options_of(words):
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("numbers", nargs="*")
    for name in ("plots", "heads", "commands", "reduced"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--huddle", default=str(ROOT / "build" / "bin" / "huddle"))
    return parser.parse_args(words)


def main(words):
    options, all_series = options_of(words), load()
    quick = options.plots or options.heads or options.commands
    for name in options.numbers:
        if name not in all_series:
            raise SystemExit(
                f"series.py: {name}: no such series (accepted: {', '.join(all_series)})"
            )
    for name, series in all_series.items():
        wanted = name in options.numbers or not options.numbers
        if not wanted or (series["kind"] == "measured" and not options.numbers and not quick):
            continue
        if options.commands:
            print(*commands_of(series), sep="\n")
            continue
        if options.heads:
            write_head(name, series)
            continue
        if options.plots:
            draw(name, series, options.folder, PLOTS if options.folder == HERE else options.folder)
        else:
            make(name, series, options)
            print(f"{name}.csv", flush=True)
    if options.folder == HERE and not options.commands and not options.plots:
        write_index(all_series)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
