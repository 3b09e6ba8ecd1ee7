# SPDX-License-Identifier: BSD-3-Clause
"""
Rows of paper 02 about figure 1 (3.2): what processes that share nothing take from each other.

Figure 1a is STREAM of 16 processes on N nodes of S chips with C processes each, N x S x C; figure
1b is 1 to 4 processes of one chip, each of which reads and writes a block of its own.  Here each
core copies one half of its block to the other (src/sim/run/apart.h).  The published times are of
an unknown number of passes, so that only their ratios are compared.
"""

from .rows import RATIO, Row, TIME, found

KB, MB, SIMULATED = 1 << 10, 1 << 20, "simulated"
CHIP, PROCESSES = 4, 16  # cores of a chip; processes of figure 1a
STREAM_BYTES = 16 * MB  # of a core: more than its caches hold
ALIKE = 0.05
SLOWER = 0.7
LOSSES = {(4, 2): 1188, (4, 4): 13979}  # chips and processes on each -> MB/s, of 4 x 1
NOTES = (
    (
        "figure 1: where a core has 0.7 of its memory rate, an experiment, both losses come out"
        " within a factor of 1.5. No experiment explains the times of 512 KB"
    ),
)


def apart_ns(lab, machine, size, cores, repetitions):
    request = {"bytes": size, "cores": cores, "repetitions": repetitions}
    answer = lab.layout.question("simulate", {"machine": machine, "apart": request})
    return answer["apart"]["time_ns"]


def stream(lab, machine, chips, each):
    """MB/s of all processes, read and written, with so many nodes as that takes."""
    cores = [CHIP * chip + core for chip in range(chips) for core in range(each)]
    return 1000 * PROCESSES * STREAM_BYTES / apart_ns(lab, machine, STREAM_BYTES, cores, 3)


def figure_1a(lab, machine):
    one, two, four = (stream(lab, machine, chips, 1) for chips in (1, 2, 4))
    alike = max(one, two, four) / min(one, two, four) - 1 <= ALIKE
    yield Row.judged(
        "figure 1a: bandwidth of 16 x 1 x 1, 8 x 2 x 1 and 4 x 4 x 1",
        "",
        "about the same",
        f"{one:.0f}, {two:.0f}, {four:.0f} MB/s",
        SIMULATED,
        found(f"within {100 * ALIKE:g} %", alike),
    )
    for (chips, each), loss in LOSSES.items():
        yield Row.judged(
            f"figure 1a: loss of {PROCESSES // chips // each} x {chips} x {each}",
            "MB/s",
            loss,
            four - stream(lab, machine, chips, each),
            SIMULATED,
            TIME,
        )


def slower_core(lab, machine):
    """An experiment: a core alone has less of its memory's bandwidth."""
    copy = machine["copy"]
    local = {**copy["memory_gbps"], "local": copy["memory_gbps"]["local"] * SLOWER}
    other = {**machine, "copy": {**copy, "memory_gbps": local}}
    for row in list(figure_1a(lab, other))[1:]:
        what = f"experiment, a core has {SLOWER:g} of its memory rate"
        yield Row(f"{what}: {row.what}", row.unit, row.published, row.here, SIMULATED)


def figure_1b(lab, machine):
    def us(size, processes):
        return apart_ns(lab, machine, size, list(range(processes)), 8) / 1000

    for size, published in (
        (256 * KB, "the same"),
        (512 * KB, "longer with more"),
        (MB, "longer with more"),
    ):
        times = [us(size, processes) for processes in range(1, CHIP + 1)]
        same = max(times) / min(times) - 1 <= ALIKE
        rises = not same and times == sorted(times)
        yield Row.judged(
            f"figure 1b: 1 to 4 processes of a chip, {size // KB} KB each",
            "",
            published,
            ", ".join(f"{time:.3g}" for time in times) + " us",
            SIMULATED,
            found(published, same if published == "the same" else rises),
        )
    yield Row.judged(
        "figure 1b: 3 processes of a chip over 2, 2 MB each",
        "times",
        696.99 / 427.11,
        us(2 * MB, 3) / us(2 * MB, 2),
        SIMULATED,
        RATIO,
    )


def contention(lab, machine):
    return [*figure_1a(lab, machine), *slower_core(lab, machine), *figure_1b(lab, machine)]
