# SPDX-License-Identifier: BSD-3-Clause
"""Launches of variants in turn, A B C A B C, and their figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..common import jobs
from ..common.layout import CliError, Layout
from ..common.types import Options
from . import handled, variants
from .arguments import call_words, program_words
from .stats import BARE, BARRIERS

if TYPE_CHECKING:
    from ..common.jobs import JobFailed
    from ..common.progress import Progress
    from .variants import Variant

PATIENCE = 20  # maximum time of a figure, as a multiple of its time, as in bench/shots.c


class Campaign:
    """
    The measurements of all variants. samples: a sample per figure and launch. notes: lines for the
    user. handled: (variant, ranks) -> {(collective, size)} that huddle handles, where huddle does
    not handle all.
    """

    def __init__(self, options: Options, layout: Layout, variants: list[Variant]) -> None:
        self.options, self.layout, self.variants = options, layout, variants
        self.wrong = 0
        self.samples: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.left_out: set[Any] = set()
        self.handled: dict[Any, Any] = {}
        self.checked: set[Any] = set()

    def binding(self, ranks: int) -> str:
        return jobs.binding(self.options.bind, ranks)

    def bound(self, ranks: int) -> bool:
        return self.binding(ranks) == "core"

    def turns(self) -> list[tuple[int, int, Variant]]:
        """Returns (launch, ranks, variant) in the order of launches."""
        return [
            (launch, ranks, variant)
            for launch in range(self.options.launches)
            for ranks in self.options.ranks
            for variant in self.variants
            if self.collectives(variant)
        ]

    def collectives(self, variant: Variant) -> list[str]:
        return [
            name
            for name in self.options.collectives
            if variant.only is None or name in variant.only
        ]

    def sizes(self, collective: str) -> list[int]:
        return [0] if collective in BARRIERS else self.options.bytes

    def limit_s(self, variant: Variant) -> float:
        """Returns the time limit of a launch with all collectives and sizes of the variant."""
        figures = sum(len(self.sizes(name)) for name in self.collectives(variant))
        if self.options.limit:
            return self.options.limit
        if self.options.shots or self.options.loop:
            return 600
        return 30 + figures * (PATIENCE * self.options.figure_ms / 1000 + 0.5)

    def launch(
        self, variant: Variant, ranks: int, words: list[str], env: dict[str, str] | None = None
    ) -> dict[str, Any]:
        command, more = variants.command_of(self.layout, variant, ranks, self.bound(ranks), words)
        try:
            output = jobs.run(command, {**more, **(env or {})}, limit_s=self.limit_s(variant))
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

    def give_up(self, variant: Variant, ranks: int, failure: JobFailed) -> None:
        """Records the failure.  The variant is not launched again with this number of ranks."""
        self.left_out.add((variant.name, ranks))
        lines = str(failure).strip().splitlines()
        self.notes.append(
            f"{variant.name}, {ranks} ranks: left out: "
            + "\n    ".join([lines[0], *lines[1:][-6:]])
        )

    def once(self, variant: Variant) -> list[str]:
        """Returns the words with which the measuring program makes each call once."""
        names = self.collectives(variant)
        return [*call_words(self.options, names, self.options.bytes), *handled.ONCE]

    def counts(self, variant: Variant, ranks: int) -> dict[str, dict[str, Any]]:
        """Makes each call once.  Returns, for each collective, which calls huddle handled."""
        words = self.once(variant)
        return handled.count(
            lambda env: self.launch(variant, ranks, words, env), self.collectives(variant)
        )

    def check(self, variant: Variant, ranks: int) -> None:
        """Checks that huddle handles the calls to be measured."""
        counts = self.counts(variant, ranks)
        if any(row["passed"] for row in counts.values()):
            self.keep_handled(variant, ranks, counts)

    def keep_handled(self, variant: Variant, ranks: int, counts: dict[str, dict[str, Any]]) -> None:
        """
        Asks a team without an MPI which calls the forced algorithm handles, and keeps them.  Calls
        that the MPI makes itself are not counted.
        """
        words = self.once(variant)
        command, env = variants.asked_of_team(self.layout, variant, ranks, self.bound(ranks), words)
        figures = json.loads(jobs.run(command, env))["figures"]
        pairs = {(f["collective"], f["bytes"]) for f in figures if f["refused"] == 0}
        pairs = {(name, size) for name, size in pairs if counts[name]["handled"]}
        self.handled[variant.name, ranks] = pairs
        for name in self.collectives(variant):
            sizes = self.sizes(name)
            some = sum((name, size) in pairs for size in sizes)
            if some < len(sizes):
                which = f"{some} of {len(sizes)} sizes" if some else "no call"
                self.notes.append(f"{variant.name}, {ranks} ranks: handles {which} of {name}")

    def wanted(self, variant: Variant, ranks: int) -> tuple[list[str], list[int]]:
        """
        Returns the (collectives, sizes) to launch, without collectives and sizes of which huddle
        handles no call.
        """
        names, sizes = self.collectives(variant), self.options.bytes
        pairs = self.handled.get((variant.name, ranks))
        if pairs is None:
            return names, sizes
        kept = {size for name, size in pairs if name not in BARRIERS}
        return (
            [name for name in names if any(name == one for one, _ in pairs)],
            [size for size in sizes if size in kept],
        )

    def measure(self, launch: int, variant: Variant, ranks: int) -> None:
        names, sizes = self.wanted(variant, ranks)
        if not names:
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

    def keep(
        self,
        answer: dict[str, Any],
        launch: int,
        variant: Variant,
        ranks: int,
        ring: str | None = None,
    ) -> None:
        pairs = self.handled.get((variant.name, ranks))
        for figure in answer["figures"]:
            name = figure["collective"].removeprefix(f"{BARE}_")
            if pairs is not None and (name, figure["bytes"]) not in pairs:
                continue  # a launch has all sizes of all its collectives: this call was the MPI's
            figure["collective"] = f"i{name}" if self.options.way == "nonblocking" else name
            self.samples.append(
                {
                    "ranks": ranks,
                    "bind": self.binding(ranks),
                    "variant": variant.name,
                    "mpi": answer["program"],
                    "host": variant.mpi.name if variant.kind == "huddle" else "",
                    "launch": launch + 1,
                    "root": "shift" if self.options.root_shift else str(self.options.root),
                    "loop": self.options.loop or 0,
                    **({"ring": ring} if ring else {}),
                    **figure,
                }
            )
        if answer["wrong"]:
            self.wrong += answer["wrong"]
            self.notes.append(f"{variant.name}, {ranks} ranks: {answer['wrong']} bytes were wrong")

    def take(self, launch: int, ranks: int, variant: Variant) -> None:
        """Checks and measures one launch, or records the variant's failure."""
        if (variant.name, ranks) in self.left_out:
            return
        try:
            if variant.kind == "huddle" and (variant.name, ranks) not in self.checked:
                self.checked.add((variant.name, ranks))
                self.check(variant, ranks)
            self.measure(launch, variant, ranks)
        except jobs.JobFailed as failure:
            self.give_up(variant, ranks, failure)

    def run(self, progress: Progress) -> Any:
        """
        Takes all turns and steps the progress after each.  Returns the interrupt (Ctrl-C, a signal)
        that ended them early, or None.
        """
        try:
            for turn in self.turns():
                self.take(*turn)
                progress.step()
        except KeyboardInterrupt as interrupt:
            return interrupt
        if not self.samples:
            raise CliError("bench: nothing was measured\n  " + "\n  ".join(self.notes))
        return None
