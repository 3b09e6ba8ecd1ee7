# SPDX-License-Identifier: BSD-3-Clause
"""
Descriptions of machines: files NAME.toml, and those of the laboratory by name where it is installed
(`recorded` has those where calls were measured).  Each has `name`, `topology` (as hwloc describes
one), and numbers, of which choices depend on the speeds of copies.
"""

from __future__ import annotations

import importlib.util
import os
import stat
from typing import Any

from . import validators
from .exit_status import BAD_USE
from .layout import CliError, Layout
from .text import table

tomllib: Any = None
for parser in ("tomllib", "tomli"):  # the second is a package, for Python before 3.11
    if importlib.util.find_spec(parser):
        tomllib = importlib.import_module(parser)
        break

THIS = "this"
MAX_BYTES = 1 << 20  # maximum size of a description


def names_in(folder: str, suffix: str = ".toml") -> list[str]:
    here = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(name[: -len(suffix)] for name in here if name.endswith(suffix))


def recorded_folder(layout: Layout) -> str:
    return os.path.join(layout.machines, "recorded")


def files(layout: Layout) -> dict[str, str]:
    """Returns {name: path} of the descriptions installed with huddle, recorded machines last."""
    return {
        name: os.path.join(folder, name + ".toml")
        for folder in (layout.machines, recorded_folder(layout))
        for name in names_in(folder)
    }


def names(layout: Layout) -> list[str]:
    return list(files(layout))


def path_of(layout: Layout, name: str) -> str | None:
    """Returns the file of a description, or None for this machine."""
    if name == THIS:
        return None
    if name.endswith(".toml") and os.path.exists(name):
        return name
    known = files(layout)
    if name not in known:
        missing = "no such file" if name.endswith(".toml") else "not known"
        others = "" if known else "; the package huddle-lab has names of machines"
        raise CliError(
            f"--machine {validators.shown(name)}: {missing} (accepted:"
            f" {', '.join((THIS, *known))}, or a file NAME.toml{others})",
            BAD_USE,
        )
    return known[name]


def contents(path: str) -> str:
    """Reads a description's file.  Limits its length, since a pipe might never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("not a regular file")
    if os.path.getsize(path) > MAX_BYTES:
        raise ValueError(f"longer than any description (accepted: up to {MAX_BYTES >> 20} MB)")
    with open(path, encoding="utf-8") as file:
        return file.read()


def kind_of(value: Any) -> str:
    """Returns the words by which a message names a value that no description has."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table in a table of a table"
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return "several tables"
    return "an array" if isinstance(value, list) else repr(str(value)[:32])


def checked(value: Any, name: str) -> float | str:
    """
    Returns a value for JSON: a line of text or a number.  Numbers outside JSON, such as nan, become
    text.  The simulator rejects such text and names the accepted values.
    """
    if isinstance(value, str) and value.isprintable():
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if abs(value) < 1 << 63 else str(value)[:32]  # not so: nan
    raise ValueError(
        f"{name}: {kind_of(value)} (accepted: a line of text, a number, a table of them)"
    )


def all_checked(table: dict[str, Any], names: tuple[str, ...] = ()) -> dict[str, Any]:
    """Checks that all values are tables, or values accepted by the simulator."""
    return {
        name: (
            all_checked(value, (*names, name))
            if isinstance(value, dict) and len(names) < 2
            else checked(value, ".".join((*names, name)))
        )
        for name, value in table.items()
    }


def parsed(path: str) -> dict[str, Any]:
    try:
        return all_checked(tomllib.loads(contents(path)))
    except OSError as error:
        raise CliError(f"--machine {path}: {error.strerror}", BAD_USE) from error
    except UnicodeDecodeError as error:
        raise CliError(
            f"--machine {path}: byte {error.start} is not valid UTF-8", BAD_USE
        ) from error
    except (ValueError, OverflowError) as error:  # TOML's own complaints among them
        raise CliError(f"--machine {path}: {error}", BAD_USE) from error
    except RecursionError as error:
        raise CliError(
            f"--machine {path}: nested too deeply (accepted: tables of numbers and texts)", BAD_USE
        ) from error


def read(path: str) -> dict[str, Any]:
    """Reads a description into a dictionary.  An XML topology is in the file's folder."""
    if tomllib is None:
        raise CliError("descriptions of machines need Python 3.11, or the package tomli")
    machine = parsed(path)
    for key in ("name", "topology"):
        if not isinstance(machine.get(key), str):
            raise CliError(
                f"--machine {path}: {key}: {machine.get(key, 'missing')} (accepted: a text)",
                BAD_USE,
            )
    if machine["topology"].endswith(".xml"):
        machine["topology"] = os.path.join(
            os.path.dirname(os.path.abspath(path)), machine["topology"]
        )
        if not os.path.isfile(machine["topology"]):
            raise CliError(
                f"--machine {path}: topology: {machine['topology']}: no such file", BAD_USE
            )
    return machine


def load(layout: Layout, name: str) -> dict[str, Any] | None:
    """Reads a description into a dictionary.  Returns None for this machine."""
    path = path_of(layout, name)
    return None if path is None else read(path)


def speed(machine: dict[str, Any], name: str, *keys: str) -> str:
    """Returns a positive number of the table `copy`, as text."""
    value: Any = machine
    for key in ("copy", *keys):
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, (int, float)) or value <= 0:
        raise CliError(
            f"--machine {name}: {'.'.join(('copy', *keys))}:"
            f" {'missing' if value is None else value} (accepted: a number above 0)",
            BAD_USE,
        )
    return repr(value)


def words(machine: dict[str, Any], name: str) -> list[str]:
    """
    Returns the library's arguments for a described machine: its topology, and the speeds of copies
    that affect choices.  name: the user's name of the machine.
    """
    keys = (("kernel_call_ns",), ("kernel_gbps",), ("cached_gbps", "own"))
    return [machine["topology"], ",".join(speed(machine, name, *key) for key in keys)]


def show(layout: Layout) -> None:
    found = {name: read(path) for name, path in files(layout).items()}
    rows = [[name, machine["name"], machine["topology"]] for name, machine in found.items()]
    table(
        ["--machine", "what it is", "topology"],
        [[THIS, "the machine that this runs on", ""], *rows],
    )
