# SPDX-License-Identifier: BSD-3-Clause
"""
What huddle tune has measured so far, kept in the user's cache directory so that a stopped run goes
on.
"""

import hashlib
import json
import os

from ..common import places
from ..common.layout import Trouble
from .stats import Figure


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "huddle")


class State:
    """
    Cells: (collective, team, size) -> {"line_ns": ..., "figures": {settings: Figure}}.  facts: all
    that a cell's figures depend on; figures of other facts are not used.
    """

    def __init__(self, output, facts):
        self.key = hashlib.sha256(json.dumps([output, facts], sort_keys=True).encode()).hexdigest()
        self.path = os.path.join(
            cache_folder(), f"tune-{hashlib.sha256(output.encode()).hexdigest()[:12]}.json"
        )
        self.cells = {}

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

    def save(self):
        places.write(self.path, json.dumps({"key": self.key, "cells": self.cells}))

    def forget(self):
        if os.path.exists(self.path):
            os.unlink(self.path)

    @staticmethod
    def name(collective, team, size):
        return f"{collective} {team.ranks} {team.bind} {team.within} {size}"

    def has(self, *cell):
        return self.name(*cell) in self.cells

    def put(self, cell, line_ns, figures):
        self.cells[self.name(*cell)] = {"line_ns": line_ns, "figures": figures}
        self.save()

    def figures(self, *cell):
        return {
            label: Figure(*values)
            for label, values in self.cells.get(self.name(*cell), {"figures": {}})[
                "figures"
            ].items()
        }

    def line_ns(self, *cell):
        return self.cells.get(self.name(*cell), {"line_ns": None})["line_ns"]
