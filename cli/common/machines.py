# SPDX-License-Identifier: BSD-3-Clause
"""
Descriptions of real machines: machines/NAME.toml, and machines/recorded/NAME.toml of those where
calls were measured, too.  Each has `name`, `source` and `topology` (as hwloc describes one), and
what else is known of it.
"""

import os
import stat

try:
    import tomllib
except ImportError:  # Python before 3.11
    try:
        import tomli as tomllib
    except ImportError:
        tomllib = None

from . import refused
from .layout import Trouble
from .text import table

THIS = "this"
MAX_BYTES = 1 << 20  # maximum size of a description


def names_in(folder, suffix=".toml"):
    here = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(name[: -len(suffix)] for name in here if name.endswith(suffix))


def recorded_folder(layout):
    return os.path.join(layout.machines, "recorded")


def files(layout):
    """{name: path} of the descriptions that come with huddle, those of recorded machines last."""
    return {
        name: os.path.join(folder, name + ".toml")
        for folder in (layout.machines, recorded_folder(layout))
        for name in names_in(folder)
    }


def names(layout):
    return list(files(layout))


def measured_file():
    """The description of this machine: the default file of huddle tune --machine."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(
        base if os.path.isabs(base) else os.path.expanduser("~/.config"), "huddle", "machine.toml"
    )


def path_of(layout, name):
    """The file of a description; None: the machine that this runs on."""
    if name == THIS:
        return None
    if name.endswith(".toml") and os.path.exists(name):
        return name
    known = files(layout)
    if name not in known:
        missing = "no such file" if name.endswith(".toml") else "not known"
        raise Trouble(
            f"--machine {refused.shown(name)}: {missing} (accepted: {THIS}, {', '.join(known)},"
            " or a file NAME.toml)",
            2,
        )
    return known[name]


def contents(path):
    """The text of a description's file; limited, since a pipe might never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("no regular file")
    if os.path.getsize(path) > MAX_BYTES:
        raise ValueError(f"longer than any description (accepted: up to {MAX_BYTES >> 20} MB)")
    with open(path, encoding="utf-8") as file:
        return file.read()


def kind_of(value):
    """How a line names a value that no description has."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table in a table of a table"
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return "several tables, as a tuning file has them"
    return "an array" if isinstance(value, list) else repr(str(value)[:32])


def said(value, name):
    """
    As JSON has it: a text of a line, or a number; one that JSON has not (nan, say) as text, which
    the simulator refuses, who knows what is accepted there.
    """
    if isinstance(value, str) and value.isprintable():
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if abs(value) < 1 << 63 else str(value)[:32]  # not so: nan
    raise ValueError(
        f"{name}: {kind_of(value)} (accepted: a line of text, a number, a table of them)"
    )


def all_said(table, names=()):
    """Checks that all values are tables, or values that the simulator accepts."""
    return {
        name: (
            all_said(value, (*names, name))
            if isinstance(value, dict) and len(names) < 2
            else said(value, ".".join((*names, name)))
        )
        for name, value in table.items()
    }


def parsed(path):
    try:
        return all_said(tomllib.loads(contents(path)))
    except OSError as error:
        raise Trouble(f"--machine {path}: {error.strerror}", 2) from error
    except UnicodeDecodeError as error:
        raise Trouble(f"--machine {path}: byte {error.start} is not valid UTF-8", 2) from error
    except (ValueError, OverflowError) as error:  # TOML's own complaints among them
        raise Trouble(f"--machine {path}: {error}", 2) from error
    except RecursionError as error:
        raise Trouble(
            f"--machine {path}: nested too deeply (accepted: tables of numbers and texts)", 2
        ) from error


def read(path):
    """A description as a dictionary; an XML topology is in its file's folder."""
    if tomllib is None:
        raise Trouble("descriptions of machines need Python 3.11, or the package tomli")
    machine = parsed(path)
    for key in ("name", "topology"):
        if not isinstance(machine.get(key), str):
            raise Trouble(
                f"--machine {path}: {key}: {machine.get(key, 'missing')} (accepted: a text)", 2
            )
    if machine["topology"].endswith(".xml"):
        machine["topology"] = os.path.join(
            os.path.dirname(os.path.abspath(path)), machine["topology"]
        )
        if not os.path.isfile(machine["topology"]):
            raise Trouble(f"--machine {path}: topology: {machine['topology']}: no such file", 2)
    return machine


def load(layout, name):
    """The description as a dictionary; None: the machine that this runs on."""
    path = path_of(layout, name)
    return None if path is None else read(path)


def described(layout, machine, said_as=None):
    """
    How the library is asked about a described machine: its topology, and what else of it matters
    to a choice.  What a simulation would refuse is refused.
    """
    question = {"ask": "description", "machine": machine}
    known = layout.question("model", question, said_as)["known"]
    return [machine["topology"], ",".join(name for name, is_so in known.items() if is_so)]


def asked(layout, name, machine):
    """
    The same of --machine NAME.  About this one the library knows more than its description says,
    which may be None: its tuning file, its processors, its kernel.
    """
    if name == THIS:
        return [machine["topology"]] if machine else []
    return described(layout, machine, {"machine": f"--machine {name}"})


def doubt_text(doubt):
    """The text after a machine's name; doubt: the description's own warning, or None."""
    return f", by a description that is not reliable: {doubt}" if doubt else ""


def show(layout):
    rows = [
        [name, load(layout, name)["name"], load(layout, name)["topology"]] for name in names(layout)
    ]
    table(
        ["--machine", "what it is", "topology"],
        [[THIS, "the machine that this runs on", ""], *rows],
    )
