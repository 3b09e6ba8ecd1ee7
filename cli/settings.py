# SPDX-License-Identifier: BSD-3-Clause
"""
huddle settings: prints the library's table of settings, as text, JSON, or the reference page
docs/settings.md.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

from .common import bad_settings, validators
from .common.command_line import Argument, Command, Option
from .common.exit_status import BAD_USE, DONE
from .common.layout import CliError, Layout
from .common.text import table
from .common.types import Options

PAGE = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Settings

This page is written by `huddle settings --markdown` from the library's table.

A setting is an environment variable. Under Open MPI each one is also an MCA parameter, for example
`mpirun --mca coll_huddle_memory 1M`; `ompi_info --param coll huddle --level 9` lists them.
`huddle run --set NAME=VALUE -- COMMAND...` sets one for a job.

An invalid value or an unknown variable is reported in one line, with the accepted values or the
nearest name. After 15 such lines only the number of further errors is printed. The program then
runs with the MPI's own collectives. Open MPI itself ignores unknown MCA parameters.

Settings for experiments begin with `HUDDLE_LAB_`. They are environment variables only.
`huddle settings --lab` lists them. The parameters of algorithms are among them; `huddle tune` finds
good values and writes these into a tuning file.

| variable | default | accepted | MCA parameter | what it does |
| --- | --- | --- | --- | --- |
"""


PARAMETERS = (
    Argument(
        "name",
        nargs=-1,
        metavar="NAME",
        help="only settings whose name contains this text, for example memory or HUDDLE_BCAST",
    ),
    Option(
        "--export",
        is_flag=True,
        help="print shell commands that set these values; defaults are printed as comments",
    ),
    Option("--lab", is_flag=True, help="also settings for experiments, HUDDLE_LAB_*"),
    Option("--json", is_flag=True, help="print JSON"),
    Option("--markdown", is_flag=True, help="print the page docs/settings.md"),
)


def is_listed(row: Any) -> bool:
    """
    Returns whether users see the setting.  Experimental settings are listed only if they are set.
    """
    return not row["lab"] or bad_settings.origin_of(row) != "default"


def cell(text: Any) -> Any:
    return str(text).replace("|", "\\|").replace("\n", " ")


def default_of(row: Any) -> Any:
    return f"`{cell(row['default'])}`" if row["default"] != "" else "(empty)"


def without_lab(accepted: str, algorithms: Any) -> str:
    """Leaves out of what is accepted the algorithms of the laboratory."""
    words = re.split(", | or ", accepted)
    left = [word for word in words if word not in algorithms]
    return accepted if left == words else f"{', '.join(left[:-1])} or {left[-1]}"


def markdown(rows: Any, algorithms: Any) -> Any:
    lab: dict[str, set[str]] = {}
    for one in algorithms:
        lab.setdefault(f"HUDDLE_{one['collective']}".upper(), set()).update(
            [one["name"]] if one["lab"] else []
        )
    lines = [
        f"| `{row['name']}` | {default_of(row)} |"
        f" {cell(without_lab(row['accepted'], lab.get(row['name'], ())))} | `{row['mca']}` |"
        f" {cell(row['doc'])} |"
        for row in rows
    ]
    return PAGE + "\n".join(lines) + "\n"


def show(rows: list[dict[str, str]], answer: dict[str, Any]) -> None:
    for line in bad_settings.lines(answer):
        print(line)
    table(
        ["setting", "value", "from", "what it does"],
        [[r["name"], bad_settings.value_of(r), bad_settings.origin_of(r), r["doc"]] for r in rows],
    )


def export_lines(rows: list[dict[str, str]]) -> Iterator[str]:
    """Yields lines with which a script can begin."""
    for row in rows:
        value, comment = shlex.quote(row["value"]), "" if row["origin"] != "default" else "# "
        if row["name"] != "HUDDLE_JOB":  # a secret, of one start
            yield f"{comment}export {row['name']}={value}"


def chosen(rows: list[dict[str, str]], names: list[str]) -> list[dict[str, str]]:
    """Returns the settings whose names contain one of the given names."""
    found = [row for row in rows if any(name.upper() in row["name"] for name in names)]
    if not found:
        known = [row["name"] for row in rows]
        hint = validators.hint(names[0].upper(), known, "huddle settings lists all")
        raise CliError(f"no setting has {names[0]} in its name: {hint}", BAD_USE)
    return found


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    answer = layout.ask("info", "settings")
    rows = [row for row in answer["settings"] if options.lab or is_listed(row)]
    if options.name:
        rows = chosen(rows, options.name)
    answer = {**answer, "settings": rows}
    if options.json:
        print(json.dumps(answer, indent=2))
    elif options.export:
        print("\n".join(export_lines(rows)))
    elif options.markdown:
        users = [row for row in rows if options.lab or not row["lab"]]
        print(markdown(users, layout.ask("info", "algorithms")), end="")
    else:
        show(rows, answer)
    return DONE


COMMAND = Command(main, PARAMETERS)
