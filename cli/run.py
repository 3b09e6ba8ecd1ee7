# SPDX-License-Identifier: BSD-3-Clause
"""
huddle run --explain: shows what src/launch would set and execute.  `huddle run` itself is done
there, without Python.
"""

from .common import mpis
from .common.text import heading, table


def add_arguments(parser):
    parser.add_argument("variables", nargs="*", metavar="NAME=VALUE", help="what would be set")


def main(options, command, layout):
    print("huddle run would set")
    for variable in options.variables:
        print(f"  {variable}")
    print(f"and execute\n  {' '.join(command) if command else '(the command after --)'}")
    heading("MPIs on PATH, and the front end that the loader would choose")
    table(
        ["mpi", "launcher", "front end"],
        [
            [
                m["mpi"],
                m["command"],
                m["path"] or f"none built ({m['front_end']}): runs without huddle",
            ]
            for m in mpis.on_path(layout)
        ],
    )
    return 0
