# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of real machines: machines/NAME.toml, each with `name`, `source` and `topology` (as hwloc describes one), and what else is known of it."""
import os

try:
    import tomllib
except ImportError:  # Python before 3.11
    try:
        import tomli as tomllib
    except ImportError:
        tomllib = None

from .layout import Trouble
from .text import table

THIS = "this"


def names(layout):
    here = os.listdir(layout.machines) if os.path.isdir(layout.machines) else []
    return sorted(name[:-len(".toml")] for name in here if name.endswith(".toml"))


def load(layout, name):
    """The description as a dictionary; None: the machine that this runs on."""
    if name == THIS:
        return None
    if name not in names(layout):
        raise Trouble(f"--machine {name}: not known (accepted: {THIS}, {', '.join(names(layout))})", 2)
    if tomllib is None:
        raise Trouble("descriptions of machines need Python 3.11, or the package tomli")
    with open(os.path.join(layout.machines, name + ".toml"), "rb") as file:
        return tomllib.load(file)


def show(layout):
    rows = [[name, load(layout, name)["name"], load(layout, name)["topology"]] for name in names(layout)]
    table(["--machine", "what it is", "topology"], [[THIS, "the machine that this runs on", ""], *rows])
