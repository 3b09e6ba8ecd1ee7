# SPDX-License-Identifier: BSD-3-Clause
"""Launches of variants in turn, A B C A B C, and their figures."""

import json
import os
import tempfile

from ..common import jobs
from ..common.layout import Trouble
from . import variants
from .arguments import call_words, program_words
from .stats import BARE

PATIENCE = 20  # as in bench/shots.c: maximum time of a figure, as a multiple of its time


class Campaign:
    """samples: one per figure and launch; notes: lines for the user."""

    def __init__(self, options, layout, variants):
        self.options, self.layout, self.variants = options, layout, variants
        self.samples, self.notes, self.left_out, self.wrong = [], [], set(), 0
        self.sizes = (
            {}
        )  # (variant, ranks) -> sizes that a forced algorithm takes, where it does not take all

    def bound(self, ranks):
        return self.options.bind == "core" and ranks <= jobs.cores()

    def turns(self):
        """(launch, ranks, variant) in order."""
        return [
            (launch, ranks, variant)
            for launch in range(self.options.launches)
            for ranks in self.options.ranks
            for variant in self.variants
            if self.collectives(variant)
        ]

    def collectives(self, variant):
        return [
            name
            for name in self.options.collectives
            if variant.only is None or name in variant.only
        ]

    def limit_s(self, figures):
        if self.options.limit:
            return self.options.limit
        if self.options.shots or self.options.loop:
            return 600
        return 30 + figures * (PATIENCE * self.options.figure_ms / 1000 + 0.5)

    def launch(self, variant, ranks, words, env=None):
        command, more = variants.command_of(self.layout, variant, ranks, self.bound(ranks), words)
        try:
            output = jobs.run(
                command, {**more, **(env or {})}, limit_s=self.limit_s(1 + len(self.options.bytes))
            )
        except jobs.JobFailed as failure:
            if '"wrong": ' not in failure.output:
                raise
            output = failure.output  # bytes were wrong, and the output has their number
        try:
            return json.loads(output[output.index('{"program"') : output.rindex("}") + 1])
        except ValueError as error:
            raise jobs.JobFailed(
                f"{' '.join(command)}: no figures in its output: {output[-500:]}"
            ) from error

    def give_up(self, variant, ranks, failure):
        """A variant that failed is not launched again with this number of ranks."""
        self.left_out.add((variant.name, ranks))
        lines = str(failure).strip().splitlines()
        self.notes.append(
            f"{variant.name}, {ranks} ranks: left out: "
            + "\n    ".join([lines[0], *lines[1:][-6:]])
        )

    def check(self, variant, ranks):
        """
        Checks that huddle handles the calls that are to be measured.  This is a separate launch,
        since counting costs time.  It makes one call of each size, and another if a rank was late.
        Open MPI counts one more call, its own.
        """
        names = self.collectives(variant)
        words = [
            *call_words(self.options, names, self.options.bytes),
            "--min",
            "1",
            "--max",
            "1",
            "--warmups",
            "0",
            "--figure-ms",
            "1000",
        ]
        with tempfile.TemporaryDirectory(prefix="huddle-") as scratch:
            file = os.path.join(scratch, "statistics.json")
            self.launch(variant, ranks, words, {"HUDDLE_STATS": "json:" + file})
            try:
                with open(file, encoding="utf-8") as written:
                    counts = json.load(written)["collectives"]
            except OSError as error:
                raise jobs.JobFailed(
                    "huddle was not in the program: it wrote no statistics"
                ) from error
        counts = {name: counts[name] for name in names}
        if not any(row["handled"] for row in counts.values()):
            reasons = sorted({why for row in counts.values() for why in row["passed"]})
            why = ", ".join(reasons) or "none was made"
            raise jobs.JobFailed(f"huddle handled no call ({why})")
        if any(row["passed"] for row in counts.values()):
            self.keep_handled(variant, ranks, words)

    def keep_handled(self, variant, ranks, words):
        """
        A forced algorithm may not take every size; a team without MPI says which.  (What the MPI
        calls itself, on the way, does not matter.)
        """
        command, env = variants.asked_of_team(self.layout, variant, ranks, self.bound(ranks), words)
        figures = json.loads(jobs.run(command, env))["figures"]
        taken = [f["bytes"] for f in figures if f["refused"] == 0 and f["collective"] != "barrier"]
        self.sizes[variant.name, ranks] = [size for size in self.options.bytes if size in taken]
        if len(taken) < len(self.options.bytes):
            self.notes.append(
                f"{variant.name}, {ranks} ranks: takes {len(taken)} of {len(self.options.bytes)}"
                " sizes"
            )

    def measure(self, launch, variant, ranks):
        names, sizes = self.collectives(variant), self.sizes.get(
            (variant.name, ranks), self.options.bytes
        )
        if not sizes and "barrier" not in names:
            return
        if variant.kind == BARE:
            for ring in variants.RINGS:
                words = [
                    *program_words(self.options, [f"{BARE}_{name}" for name in names], sizes),
                    "--ring",
                    ring,
                ]
                self.keep(self.launch(variant, ranks, words), launch, variant, ranks, ring)
        else:
            self.keep(
                self.launch(variant, ranks, program_words(self.options, names, sizes)),
                launch,
                variant,
                ranks,
            )

    def keep(self, answer, launch, variant, ranks, ring=None):
        for figure in answer["figures"]:
            name = figure["collective"].removeprefix(f"{BARE}_")
            figure["collective"] = f"i{name}" if self.options.way == "nonblocking" else name
            self.samples.append(
                {
                    "ranks": ranks,
                    "bind": "core" if self.bound(ranks) else "none",
                    "variant": variant.name,
                    "mpi": answer["program"],
                    "launch": launch + 1,
                    **({"ring": ring} if ring else {}),
                    **figure,
                }
            )
        if answer["wrong"]:
            self.wrong += answer["wrong"]
            self.notes.append(f"{variant.name}, {ranks} ranks: {answer['wrong']} bytes were wrong")

    def run(self, step):
        """
        All turns; step() after each.  Returns what ended it early (Ctrl-C, a signal), or None.
        """
        checked = set()
        try:
            for launch, ranks, variant in self.turns():
                if (variant.name, ranks) not in self.left_out:
                    try:
                        if variant.kind == "huddle" and (variant.name, ranks) not in checked:
                            checked.add((variant.name, ranks))
                            self.check(variant, ranks)
                        self.measure(launch, variant, ranks)
                    except jobs.JobFailed as failure:
                        self.give_up(variant, ranks, failure)
                step()
        except KeyboardInterrupt as interrupt:
            return interrupt
        if not self.samples:
            raise Trouble("bench: nothing was measured\n  " + "\n  ".join(self.notes))
        return None
