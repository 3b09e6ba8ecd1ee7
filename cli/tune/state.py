# SPDX-License-Identifier: BSD-3-Clause
"""
What huddle tune has measured so far, kept in the user's cache directory so that a stopped run goes
on.
"""

import hashlib
import json
import os
import time
from collections import namedtuple

from ..common import places
from ..common.layout import Trouble
from .stats import figure_of

# What a figure is of.  own_ns, ratios: of the screening, label -> ratio to what serves now.
Cell = namedtuple("Cell", "collective team size")
TIMES = 40  # of a figure that are kept
SAVE_S = 1


def thinned(times):
    """At most TIMES of sorted times, evenly spread."""
    if len(times) <= TIMES:
        return times
    return [times[i * (len(times) - 1) // (TIMES - 1)] for i in range(TIMES)]


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "huddle")


class State:
    """
    For each cell {"screen": {"own_ns": ..., "ratios": {label: ratio}, "looks": [name]},
    "launches": [launch], "line": [ns]}; stats.py says what a launch is.  facts: all that a cell's
    figures depend on; figures of other facts are not used.
    """

    def __init__(self, output, facts):
        self.key = hashlib.sha256(json.dumps([output, facts], sort_keys=True).encode()).hexdigest()
        self.path = os.path.join(
            cache_folder(), f"tune-{hashlib.sha256(output.encode()).hexdigest()[:12]}.json"
        )
        self.cells, self.saved_at = {}, -SAVE_S

    def check_place(self):
        """Checks before the measurements that the state can be written."""
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            why = places.why_not(self.path, replaced=True)
        except OSError as error:
            why = f"{error.filename}: {error.strerror}"
        if why:
            raise Trouble(
                f"{self.path}, where tune keeps its measurements, cannot be written: {why}"
                " (another place: XDG_CACHE_HOME)"
            )

    def load(self):
        """Loads the state; returns the number of cells."""
        try:
            with open(self.path, encoding="utf-8") as file:
                saved = json.load(file)
        except (OSError, ValueError):
            return 0
        if saved.get("key") == self.key:
            self.cells = saved["cells"]
        return len(self.cells)

    def save_sometimes(self):
        """What is measured within SAVE_S may be lost to a kill."""
        if time.monotonic() - self.saved_at >= SAVE_S:
            self.save()

    def save(self):
        self.saved_at = time.monotonic()
        places.write(self.path, json.dumps({"key": self.key, "cells": self.cells}))

    def forget(self):
        if os.path.exists(self.path):
            os.unlink(self.path)

    @staticmethod
    def name(cell):
        team = cell.team
        return f"{cell.collective} {team.ranks} {team.bind} {team.within} {cell.size}"

    def has(self, cell):
        """It was screened."""
        return self.name(cell) in self.cells

    def looked(self, cell, look):
        return self.has(cell) and look in self.cells[self.name(cell)]["screen"]["looks"]

    def put(self, cell, look, own_ns, ratios, line):
        """What a look found; own_ns None: there was nothing to measure."""
        screen = {"own_ns": own_ns, "ratios": {}, "looks": []}
        kept = self.cells.setdefault(
            self.name(cell), {"screen": screen, "launches": [], "line": []}
        )
        kept["screen"]["looks"].append(look)
        kept["screen"]["own_ns"] = own_ns or kept["screen"]["own_ns"]
        kept["screen"]["ratios"].update(ratios)
        kept["line"] += line

    def add(self, cell, one, loop, line):
        """A launch."""
        kept = self.cells[self.name(cell)]
        thin = [{label: thinned(ns) for label, ns in way.items()} for way in (one, loop)]
        kept["launches"].append({"one": thin[0], "loop": thin[1]})
        kept["line"] += line

    def ratios(self, cell):
        """Of the screening; empty: it was not measured."""
        return self.cells[self.name(cell)]["screen"]["ratios"] if self.has(cell) else {}

    def own_ns(self, cell):
        return self.cells[self.name(cell)]["screen"]["own_ns"] if self.has(cell) else None

    def launches(self, cell):
        return self.cells[self.name(cell)]["launches"] if self.has(cell) else []

    def figure(self, cell, label):
        return figure_of(self.launches(cell), label)

    def line(self, cell):
        return self.cells[self.name(cell)]["line"] if self.has(cell) else []
