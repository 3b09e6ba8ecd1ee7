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


def measured_file():
    """Of this machine, as huddle tune --machine writes it where nothing else is said."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.config"), "huddle", "machine.toml")


def path_of(layout, name):
    """Of the description; None: the machine that this runs on."""
    if name == THIS:
        return None
    if name.endswith(".toml"):
        return name
    if name not in names(layout):
        raise Trouble(f"--machine {name}: not known (accepted: {THIS}, {', '.join(names(layout))}, or a file NAME.toml)", 2)
    return os.path.join(layout.machines, name + ".toml")


def read(path):
    """A description as a dictionary; an XML topology lies beside its file."""
    if tomllib is None:
        raise Trouble("descriptions of machines need Python 3.11, or the package tomli")
    try:
        with open(path, "rb") as file:
            machine = tomllib.load(file)
    except OSError as error:
        raise Trouble(f"--machine {path}: {error.strerror}", 2) from error
    except tomllib.TOMLDecodeError as error:
        raise Trouble(f"--machine {path}: {error}", 2) from error
    for key in ("name", "topology"):
        if not isinstance(machine.get(key), str):
            raise Trouble(f"--machine {path}: {key}: missing (accepted: a text)", 2)
    if machine["topology"].endswith(".xml"):
        machine["topology"] = os.path.join(os.path.dirname(os.path.abspath(path)), machine["topology"])
    return machine


def load(layout, name):
    """The description as a dictionary; None: the machine that this runs on."""
    path = path_of(layout, name)
    return None if path is None else read(path)


def show(layout):
    rows = [[name, load(layout, name)["name"], load(layout, name)["topology"]] for name in names(layout)]
    table(["--machine", "what it is", "topology"], [[THIS, "the machine that this runs on", ""], *rows])
