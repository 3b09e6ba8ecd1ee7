# SPDX-License-Identifier: BSD-3-Clause
"""
How far something is, on standard error: on a terminal a bar (rich's where it is there), elsewhere a
line per stage, and one every ten seconds.
"""

import sys
import threading
import time

PERIOD_S = 10


class Plain:
    """A progress bar."""

    def __init__(self, total):
        self.total, self.width = total, 0

    def show(self, words, done, seconds):
        filled = 40 * done // max(1, self.total)
        line = f"  {words} {'━' * filled}{'╌' * (40 - filled)} {done}/{self.total} {seconds:.0f} s"
        print(f"\r{line.ljust(self.width)}", end="", file=sys.stderr, flush=True)
        self.width = len(line)

    def end(self):
        print("\r\033[K", end="", file=sys.stderr, flush=True)


class Rich:
    def __init__(self, total):
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress as Bar,
            TextColumn,
            TimeElapsedColumn,
        )

        self.bar = Bar(
            TextColumn("  {task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.bar.add_task("", total=total)
        self.bar.start()

    def show(self, words, done, _seconds):
        self.bar.update(self.task, description=words, completed=done)

    def end(self):
        self.bar.stop()


def bar_of(total):
    if not sys.stderr.isatty():
        return None
    try:
        return Rich(total)
    except ImportError:
        return Plain(total)


class Progress:
    """
    A context, in which nothing else is printed.  `stage` says what comes next, `step` counts.  One
    within another is shown by that; one within two, by time alone: two counts in turn would be read
    as one.
    """

    outermost, inner = None, None

    def __init__(self, total, words="", done=0):
        self.total, self.words, self.done, self.within = total, words, done, ""
        self.lock, self.ended = threading.Lock(), threading.Event()

    def __enter__(self):
        self.outer, self.begin = Progress.outermost, time.monotonic()
        if self.outer and not Progress.inner:
            Progress.inner = self
        if not self.outer:
            Progress.outermost, self.bar = self, bar_of(self.total)
            self.ticker = threading.Thread(target=self.tick, daemon=True)
            self.ticker.start()
        self.draw()
        return self

    def __exit__(self, *_):
        if self.outer:
            if Progress.inner is self:
                Progress.inner, self.outer.within = None, ""
            return
        Progress.outermost = None
        self.ended.set()
        self.ticker.join()
        if self.bar:
            self.bar.end()

    def seconds(self):
        return time.monotonic() - self.begin

    def line(self):
        return f"[{self.done}/{self.total}] {self.words}{self.within}"

    def tick(self):
        """Prints progress from time to time during long work."""
        while not self.ended.wait(PERIOD_S):
            self.draw()
            if not self.bar:
                print(f"{self.line()}, {self.seconds():.0f} s", file=sys.stderr, flush=True)

    def draw(self):
        if self.outer:
            if Progress.inner is not self:
                return
            self.outer.within = f": {self.words} {self.done}/{self.total}"
            self.outer.draw()
        elif self.bar:
            with self.lock:
                self.bar.show(self.words + self.within, self.done, self.seconds())

    def stage(self, words):
        self.words = words
        self.draw()
        if not self.outer and not self.bar:
            print(self.line(), file=sys.stderr, flush=True)

    def step(self):
        self.done += 1
        self.draw()
