# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of real machines: machines/NAME.toml, each with `name`, `source` and `topology` (as hwloc describes one), and what else is known of it."""
import os
import stat

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
MOST_BYTES = 1 << 20  # of a description


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


def contents(path):
    """Of a file as people write them; a pipe would never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("no regular file")
    if os.path.getsize(path) > MOST_BYTES:
        raise ValueError(f"longer than any description (accepted: up to {MOST_BYTES >> 20} MB)")
    with open(path, encoding="utf-8") as file:
        return file.read()


def can_be_said(value):
    """A text of a line, or a number that JSON has."""
    if isinstance(value, str):
        return value.isprintable()
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1 << 63  # not so: nan


def check_values(table, names=()):
    """Tables, and tables in them, of what can be said to the simulator, which knows what each means."""
    for name, value in table.items():
        if isinstance(value, dict) and len(names) < 2:
            check_values(value, (*names, name))
        elif not can_be_said(value):
            raise ValueError(f"{'.'.join((*names, name))}: {str(value)[:32]!r} (accepted: a line of text, a number, a table of them)")


def parsed(path):
    try:
        machine = tomllib.loads(contents(path))
        check_values(machine)
        return machine
    except OSError as error:
        raise Trouble(f"--machine {path}: {error.strerror}", 2) from error
    except UnicodeDecodeError as error:
        raise Trouble(f"--machine {path}: byte {error.start} is no UTF-8", 2) from error
    except (ValueError, OverflowError) as error:  # TOML's own complaints among them
        raise Trouble(f"--machine {path}: {error}", 2) from error
    except RecursionError as error:
        raise Trouble(f"--machine {path}: nested too deeply (accepted: tables of numbers and texts)", 2) from error


def read(path):
    """A description as a dictionary; an XML topology lies beside its file."""
    if tomllib is None:
        raise Trouble("descriptions of machines need Python 3.11, or the package tomli")
    machine = parsed(path)
    for key in ("name", "topology"):
        if not isinstance(machine.get(key), str):
            raise Trouble(f"--machine {path}: {key}: missing (accepted: a text)", 2)
    if machine["topology"].endswith(".xml"):
        machine["topology"] = os.path.join(os.path.dirname(os.path.abspath(path)), machine["topology"])
        if not os.path.isfile(machine["topology"]):
            raise Trouble(f"--machine {path}: topology: {machine['topology']}: no such file", 2)
    return machine


def load(layout, name):
    """The description as a dictionary; None: the machine that this runs on."""
    path = path_of(layout, name)
    return None if path is None else read(path)


def show(layout):
    rows = [[name, load(layout, name)["name"], load(layout, name)["topology"]] for name in names(layout)]
    table(["--machine", "what it is", "topology"], [[THIS, "the machine that this runs on", ""], *rows])
