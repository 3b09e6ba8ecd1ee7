# SPDX-License-Identifier: BSD-3-Clause
"""Makes the built-in table's choices from the evidence.

usage: build/venv/bin/python docs/evidence/table.py [OPTIONS]

Writes src/core/choose/builtin.toml: of each simulated row (table.toml) the candidate with the least
regret over the range of the machine's two assumed numbers, and `holds`; of each measured row the
algorithm that its series show to be the fastest, and `like` where they have no time of its calls.
A series that has no line of a row's calls is no `evidence` of it.
Runs no simulation: the times are in range.csv.
README.md has the rules.

  --check        writes nothing; fails where the table is not what it would write
  --report       prints regrets, and what measured rows rest on; writes nothing
  --simulate     first simulates what range.csv lacks (--anew: all of it)
  --jobs N       commands at a time (default: 2)
  --huddle FILE  the command (default: build/bin/huddle)
"""

import argparse
import re
import sys

import measured
import series
import simulated
from rows import (
    CALLS,
    algorithm_of,
    blocks_of,
    naming,
    rewritten,
    row_of,
    same_algorithm,
    series_of,
)

TABLE = series.ROOT / "src" / "core" / "choose" / "builtin.toml"
MATCHED = ("ranks", "bytes", "divided", "within", "quick")  # the same in a cell and in its row
UNASKED = ("fallback", "second", "cheaper_than")  # a row that serves what another one cannot take


# ---- simulated rows ----


def is_row_of(cell, block):
    found = row_of(block)
    if not found or found[0] != cell["collective"]:
        return False
    row = found[1]
    same = all(row.get(key) == cell.get(key) for key in MATCHED)
    return same and not any(row.get(key) for key in ("fallback", "oversubscribed", "intel"))


def present_of(cell, row):
    """The row's algorithm, as the cell names it."""
    text = algorithm_of(row)
    return next((name for name in cell["candidates"] if same_algorithm(name, text)), text)


def decide(cells, data, blocks):
    """[(cell, index of its block, present algorithm, the pick, verdict)]"""
    found = []
    for cell in cells:
        indices = [i for i, block in enumerate(blocks) if is_row_of(cell, block)]
        about = " ".join(str(cell.get(key, "")) for key in ("collective", "ranks", "bytes"))
        if len(indices) != 1:
            raise SystemExit(f"table.py: {about}: {len(indices)} rows of the table")
        try:
            verdict = simulated.Verdict(cell, data)
        except KeyError as error:
            raise SystemExit(f"table.py: {about}: range.csv lacks {error}; --simulate") from error
        present = present_of(cell, row_of(blocks[indices[0]])[1])
        found.append((cell, indices[0], present, verdict.pick(present), verdict))
    return found


# ---- measured rows ----


def decide_measured(blocks, others, source):
    """[(index of its block, collective, row, verdict)] of rows that are not simulated."""
    found = []
    for index, block in enumerate(blocks):
        collective, row = row_of(block) or (None, None)
        if row and index not in others and not any(row.get(key) for key in UNASKED):
            found.append((index, collective, row, measured.Verdict(collective, row, source)))
    return found


# ---- the table ----


def founded(block):
    """
    The block, without those series of its `evidence` that have no line of its calls, and those of
    its `like` that have none of its algorithm.
    """
    collective, row = row_of(block) or (None, {})
    for key, says in (("evidence", measured.speaks), ("like", measured.tried)):
        if key in row:
            left = [number for number in series_of(row) if says(collective, row, number)]
            line = f'\n{key} = "{" ".join(left)}"' if left else ""
            block = re.sub(rf"\n{key} = .*", line, block)
    return block


def table_text(text, decided, source):
    blocks = blocks_of(text)
    end = "\n" if text.endswith("\n") else ""
    blocks[-1] = blocks[-1].rstrip("\n")
    simulated_ones = {index for _, index, *_ in decided}
    for index, block in enumerate(blocks):  # no cell, no `holds`
        if index not in simulated_ones:
            blocks[index] = re.sub(r"\nholds = .*", "", block)
    for _, index, _, pick, verdict in decided:
        blocks[index] = rewritten(blocks[index], pick, verdict.holds(pick))
    for index, _, _, verdict in decide_measured(blocks, simulated_ones, source):
        if verdict.pick() != verdict.own:
            blocks[index] = rewritten(blocks[index], verdict.pick())
        blocks[index] = naming(blocks[index], "evidence" if verdict.places else "like")
    return "\n\n".join(map(founded, blocks)) + end


def about_row(collective, row):
    return " ".join([collective, *(f"{key}={row[key]}" for key in CALLS if key in row)])


def report(decided, blocks, source):
    for cell, _, present, pick, verdict in decided:
        said = f"{present}: {verdict.holds(present)}" if present in verdict.regret else present
        said += f" -> {pick}: {verdict.holds(pick)}" if pick != present else ""
        print(f"{about_row(cell['collective'], cell)}: {said}")
    others = {index for _, index, *_ in decided}
    for _, collective, row, verdict in decide_measured(blocks, others, source):
        pick, about = verdict.pick(), about_row(collective, row)
        if verdict.lacking:
            regimes = " and ".join(sorted(verdict.lacking))
            print(f"{about}: {verdict.own}: no measured time of {regimes} ranks")
        if pick != verdict.own:
            print(f"{about}: {verdict.own} -> {pick}: {verdict.mean(pick):.2f} of its time")
        for where, us, least, fastest in verdict.contradictions():
            print(
                f"{', '.join(where)}: {collective} {verdict.own} {us:g} us, {fastest} {least:g} us"
            )


def options_of(words):
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    for name in ("check", "report", "simulate", "anew"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--huddle", default=str(series.ROOT / "build" / "bin" / "huddle"))
    return parser.parse_args(words)


def main(words):
    options, cells = options_of(words), simulated.load_cells()
    if options.simulate or options.anew:
        simulated.fill(cells, options)
    text = TABLE.read_text(encoding="utf-8")
    decided = decide(cells, simulated.read_range(), blocks_of(text))
    source = measured.Source(measured.algorithms(options.huddle), series.load())
    new = table_text(text, decided, source)
    if options.report:
        report(decided, blocks_of(text), source)
    elif options.check and new != text:
        raise SystemExit(f"table.py: {TABLE.name} is not what table.py writes")
    elif not options.check:
        TABLE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
