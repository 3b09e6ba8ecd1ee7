# SPDX-License-Identifier: BSD-3-Clause
"""
huddle settings: prints the library's table of settings, as text, JSON, or the reference page
docs/settings.md.
"""

import difflib
import json
import shlex

from .common import bad_settings
from .common.layout import Trouble
from .common.text import table

PAGE = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Settings

This page is written by `huddle settings --markdown` from the library's table.

A setting is an environment variable. Under Open MPI each one is also an MCA parameter, for example
`mpirun --mca coll_huddle_memory 1M`; `ompi_info --param coll huddle --level 9` lists them.
`huddle run --set NAME=VALUE -- COMMAND...` sets one for a job.

A bad value or an unknown variable is reported in one line with the accepted values or names, the
first 15 of them; then only their number. The program then runs with the MPI's own collectives. Open
MPI itself ignores unknown MCA parameters.

| variable | default | accepted | MCA parameter | what it does |
| --- | --- | --- | --- | --- |
"""


def add_arguments(parser):
    parser.add_argument(
        "name",
        nargs="*",
        metavar="NAME",
        help="only settings whose name has this in it, for example memory or HUDDLE_BCAST",
    )
    parser.add_argument(
        "--export",
        action="store_true",
        help="print lines for a shell: those that are set, and the defaults as comments",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--markdown", action="store_true", help="print the page docs/settings.md")


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def default_of(row):
    return f"`{cell(row['default'])}`" if row["default"] != "" else "(empty)"


def markdown(rows):
    lines = [
        f"| `{row['name']}` | {default_of(row)} | {cell(row['accepted'])} | `{row['mca']}` |"
        f" {cell(row['doc'])} |"
        for row in rows
    ]
    return PAGE + "\n".join(lines) + "\n"


def show(rows, answer):
    for line in bad_settings.lines(answer):
        print(line)
    table(
        ["setting", "value", "from", "what it does"],
        [[r["name"], r["value"], r["origin"], r["doc"]] for r in rows],
    )


def export_lines(rows):
    """What a script can begin with."""
    for row in rows:
        value, comment = shlex.quote(row["value"]), "" if row["origin"] != "default" else "# "
        if row["name"] != "HUDDLE_JOB":  # a secret, of one start
            yield f"{comment}export {row['name']}={value}"


def chosen(rows, names):
    """The settings with one of the names in theirs."""
    found = [row for row in rows if any(name.upper() in row["name"] for name in names)]
    if not found:
        near = difflib.get_close_matches(names[0].upper(), [row["name"] for row in rows], 1)
        hint = f"did you mean {near[0]}?" if near else "huddle settings lists all"
        raise Trouble(f"no setting has {names[0]} in its name: {hint}", 2)
    return found


def main(options, _command, layout):
    answer = layout.ask("info", "settings")
    rows = answer["settings"]
    if options.name:
        rows = chosen(rows, options.name)
        answer = {**answer, "settings": rows}
    if options.json:
        print(json.dumps(answer, indent=2))
    elif options.export:
        print("\n".join(export_lines(rows)))
    elif options.markdown:
        print(markdown(rows), end="")
    else:
        show(rows, answer)
    return 0
