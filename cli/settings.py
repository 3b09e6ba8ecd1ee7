# SPDX-License-Identifier: BSD-3-Clause
"""
huddle settings: prints the library's table of settings, as text, JSON, or the reference page
docs/settings.md.
"""

import json

from .common.text import table

PAGE = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Settings

This page is written by `huddle settings --markdown` from the library's table.

A setting is an environment variable. Under Open MPI each one is also an MCA parameter, for example
`mpirun --mca coll_huddle_memory 1M`; `ompi_info --param coll huddle --level 9` lists them.
`huddle run --set NAME=VALUE -- COMMAND...` sets one for a job. A bad value or an unknown name is
reported in one line with the accepted values or names. The program then runs with the MPI's own
collectives.

| variable | default | accepted | MCA parameter | what it does |
| --- | --- | --- | --- | --- |
"""


def add_arguments(parser):
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


def show(rows, error):
    if error:
        print(f"{error}: huddle handles no calls")
    table(
        ["setting", "value", "from", "what it does"],
        [[r["name"], r["value"], r["origin"], r["doc"]] for r in rows],
    )


def main(options, _command, layout):
    answer = layout.ask("info", "settings")
    rows = answer["settings"]
    if options.json:
        print(json.dumps(answer, indent=2))
    elif options.markdown:
        print(markdown(rows), end="")
    else:
        show(rows, answer["error"])
    return 0
