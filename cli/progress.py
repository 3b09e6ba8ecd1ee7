# SPDX-License-Identifier: BSD-3-Clause
"""How far something is, on standard error: on a terminal a bar (rich's where it is there), elsewhere a line per stage."""
import sys


class Plain:
    """A bar of our own."""

    def __init__(self, total):
        self.total, self.width = total, 0

    def show(self, words, done):
        filled = 40 * done // max(1, self.total)
        line = f"  {words} {'━' * filled}{'╌' * (40 - filled)} {done}/{self.total}"
        print(f"\r{line.ljust(self.width)}", end="", file=sys.stderr, flush=True)
        self.width = len(line)

    def end(self):
        print("\r\033[K", end="", file=sys.stderr, flush=True)


class Rich:
    def __init__(self, total):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TextColumn, TimeElapsedColumn
        self.bar = Bar(TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task("", total=total)
        self.bar.start()

    def show(self, words, done):
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
    """A context.  `stage` says what comes next, `step` counts."""

    def __init__(self, total, words="", done=0):
        self.total, self.words, self.done = total, words, done

    def __enter__(self):
        self.bar = bar_of(self.total)
        self.draw()
        return self

    def __exit__(self, *_):
        if self.bar:
            self.bar.end()

    def draw(self):
        if self.bar:
            self.bar.show(self.words, self.done)

    def stage(self, words):
        self.words = words
        self.draw()
        if not self.bar:
            print(f"[{self.done}/{self.total}] {words}", file=sys.stderr, flush=True)

    def step(self):
        self.done += 1
        self.draw()
