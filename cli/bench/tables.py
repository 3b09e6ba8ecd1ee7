# SPDX-License-Identifier: BSD-3-Clause
"""The figures of `huddle bench` as tables of text: (title, headers, rows, columns of numbers)."""

from ..common.text import bytes_text
from ..common.transfers import ANY
from .stats import BARE, BARRIERS, geometric_mean, panels, summaries

LARGE = 64 << 10  # bytes from which on copying dominates
PLACED = {"core": "one core per rank", "shared": "more than cores, not bound", "none": "not bound"}
MAX_COLUMNS = 12  # variants side by side; with more, one below the other


def us(ns):
    """Microseconds, three digits."""
    if ns is None:
        return ""
    value = ns / 1000
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio_text(ratio):
    return (
        ""
        if ratio is None
        else (
            f"{ratio.value:.2f}"
            if ratio.low is None
            else f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
        )
    )


def line_text(ns):
    return "" if ns is None else f"{ns:.0f}"


def interval_text(cell):
    return "" if cell.low_ns is None else f"{us(cell.low_ns)} - {us(cell.high_ns)}"


def setting_text(ranks, bind, line, rows):
    if line == ANY:
        return f"{ranks} ranks, {PLACED[bind]}"
    lines = sorted(row.line_ns for row in rows)
    between = {
        "nearest": "threads of one core, or a small shared cache",
        "near": "one cache",
        "far": "two caches, or sockets",
    }[line]
    return (
        f"{ranks} ranks, {PLACED[bind]}; a cache line crosses"
        f" in {lines[len(lines) // 2]:.0f} ns ({line}: {between})"
    )


def variants_of(rows):
    """The variants of these rows, in the order of their turns."""
    turns = {name: cell.turn for row in rows for name, cell in row.cells.items()}
    return sorted(turns, key=turns.get)


def best_of(row):
    """The fastest variant, except the bare one."""
    real = {name: cell.median_ns for name, cell in row.cells.items() if name != BARE}
    return min(real, key=real.get) if real else None


def share_of_bare(row, name):
    """The part of the bare speed that a variant reaches; None: not known."""
    return (
        row.cells[BARE].median_ns / row.cells[name].median_ns
        if BARE in row.cells and name in row.cells
        else None
    )


def side_by_side(rows):
    """
    One line per size, one column per variant; * marks the fastest.  With a single variant of huddle
    also its ratio to the others.
    """
    variants = variants_of(rows)
    ours = [name for name in variants if any(name in row.ratios for row in rows)]
    compared = len(ours) == 1
    bare = compared and BARE in variants
    body = []
    for row in rows:
        cells = [bytes_text(row.bytes), line_text(row.line_ns)]
        cells += [
            (
                us(row.cells[name].median_ns)
                + ("*" if name == best_of(row) and len(variants) > 1 else "")
                if name in row.cells
                else ""
            )
            for name in variants
        ]
        cells += [row.best or "", ratio_text(row.ratios.get(ours[0]))] if compared else []
        share = share_of_bare(row, ours[0]) if bare else None
        body.append(cells + ([f"{share:.2f}" if share else ""] if bare else []))
    headers = [
        "size",
        "line ns",
        *variants,
        *(["best peer", "ratio to it"] if compared else []),
        *(["of bare speed"] if bare else []),
    ]
    return headers, body, (*range(2 + len(variants)), 4 + len(variants))


def one_below_the_other(rows):
    """A line for each size and variant, with all that is known."""
    timed = any(cell.cpu_ns for row in rows for cell in row.cells.values())
    body = []
    for row in rows:
        for name, cell in row.cells.items():
            body.append(
                [
                    bytes_text(row.bytes) if rows[0].collective not in BARRIERS else "",
                    name,
                    us(cell.median_ns),
                    interval_text(cell),
                    us(cell.p99_ns),
                    us(cell.min_ns),
                    us(cell.mean_ns),
                    us(cell.max_ns),
                    *([us(cell.cpu_ns)] if timed else []),
                    line_text(row.line_ns),
                    ratio_text(row.ratios.get(name)),
                    row.best if name in row.ratios else "",
                    str(cell.launches),
                ]
            )
    headers = [
        "size",
        "variant",
        "median",
        "95 %",
        "p99",
        "min",
        "avg",
        "max",
        *(["cpu"] if timed else []),
        "line ns",
        "ratio",
        "to",
        "launches",
    ]
    return (
        headers,
        body,
        tuple(i for i, name in enumerate(headers) if name not in ("variant", "to", "95 %")),
    )


def tables(rows, details=False):
    """
    [(title, headers, rows, right)]; those with a comparison come first, those of what was alone in
    its class of line transfer after them.
    """
    compared, alone = [], []
    for (ranks, bind, line), mine in panels(rows):
        for collective in dict.fromkeys(row.collective for row in mine):
            some = [row for row in mine if row.collective == collective]
            wide = (
                not details
                and len({row.bytes for row in some}) > 1
                and len(variants_of(some)) <= MAX_COLUMNS
            )
            (compared if any(row.ratios for row in some) else alone).append(
                (
                    f"{collective}, us, {setting_text(ranks, bind, line, some)}"
                    + ("; *: the fastest" if wide and len(variants_of(some)) > 1 else ""),
                    *(side_by_side if wide else one_below_the_other)(some),
                )
            )
    return compared + alone


def faster_text(ratio):
    """Of times: .5 is 2.0x faster."""
    return f"{1 / ratio:.2f}x faster" if ratio <= 1 else f"{ratio:.2f}x slower"


def summary_lines(rows):
    best = {row.best for row in rows if row.best}
    whose = best.pop() if len(best) == 1 else "each size's best peer"
    return [
        f"{collective}, {ranks} ranks, {line}: {name} is {faster_text(mean)} than {whose}"
        f" (geometric mean of {sizes} sizes)"
        for ranks, _bind, collective, line, name, mean, sizes in summaries(rows)
    ]


def missing_lines(missing):
    return [f"not measured, as they are not here: {', '.join(missing)}"] if missing else []


def bare_lines(rows):
    """How huddle compares with the bare forms: barriers, and large messages."""
    lines = []
    for (ranks, _bind, line), mine in panels(rows):
        for name in dict.fromkeys(
            name for row in mine for name in row.cells if name.startswith("huddle")
        ):
            barrier = [
                f"{share:.2f} with barriers"
                for row in mine
                if row.collective == "barrier" and (share := share_of_bare(row, name))
            ]
            large = [
                share for row in mine if row.bytes >= LARGE and (share := share_of_bare(row, name))
            ]
            large = (
                [
                    f"{geometric_mean(large):.2f} from {bytes_text(LARGE)} up (geometric mean;"
                    f" least {min(large):.2f})"
                ]
                if large
                else []
            )
            if barrier or large:
                lines.append(
                    f"{name}, {ranks} ranks, {line}: of the bare speed it reaches"
                    f" {', '.join(barrier + large)}"
                )
    return lines
