# SPDX-License-Identifier: BSD-3-Clause
"""
How far something is, on standard error: on a terminal a bar, elsewhere a line per stage, and one
every ten seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

PERIOD_S = 10


def bar_of(total: int) -> Any:
    """Returns a progress bar of rich, or None if standard error is not a terminal."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    words = TextColumn("  {task.description}")
    bar = Bar(
        words,
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("", total=total)
    bar.start()
    return bar


class Progress:
    """
    The display of progress of the outermost stage, and of one stage within it.  Deeper stages show
    only the elapsed time.  Nothing else is printed within this context.
    """

    outermost, inner = None, None

    def __init__(self, total: int, words: str = "", done: int = 0) -> None:
        self.total, self.words, self.done, self.within = total, words, done, ""
        self.ended = threading.Event()

    def __enter__(self) -> Progress:
        self.outer, self.begin = Progress.outermost, time.monotonic()
        if self.outer and not Progress.inner:
            Progress.inner = self
        if not self.outer:
            Progress.outermost, self.bar = self, bar_of(self.total)
            self.ticker = threading.Thread(target=self.tick, daemon=True)
            self.ticker.start()
        self.draw()
        return self

    def __exit__(self, *_: object) -> None:
        if self.outer:
            if Progress.inner is self:
                Progress.inner, self.outer.within = None, ""
            return
        Progress.outermost = None
        self.ended.set()
        self.ticker.join()
        if self.bar:
            self.bar.stop()

    def seconds(self) -> float:
        return time.monotonic() - self.begin

    def line(self) -> str:
        """Formats the state: 'huddle: 3 of 14 done; with huddle'."""
        words = self.words + self.within
        return f"huddle: {self.done} of {self.total} done{'; ' if words else ''}{words}"

    def tick(self) -> None:
        """Prints progress from time to time during long work."""
        while not self.ended.wait(PERIOD_S):
            self.draw()
            if not self.bar:
                print(f"{self.line()}, {self.seconds():.0f} s so far", file=sys.stderr, flush=True)

    def draw(self) -> None:
        if self.outer:
            if Progress.inner is not self:
                return
            self.outer.within = f": {self.words}, {self.done} of {self.total}"
            self.outer.draw()
        elif self.bar:
            task = self.bar.task_ids[0]
            self.bar.update(task, description=self.words + self.within, completed=self.done)

    def stage(self, words: str) -> None:
        self.words = words
        self.draw()
        if not self.outer and not self.bar:
            print(self.line(), file=sys.stderr, flush=True)

    def step(self) -> None:
        self.done += 1
        self.draw()
