# SPDX-License-Identifier: BSD-3-Clause
"""
The tuning file: where it goes, what may be overwritten, how it is written (src/core/plan/rules.h
says what its lines mean).
"""

from __future__ import annotations

import os
import time

from ..common import output_files, rules, wisdom
from ..common.exit_status import BAD_USE
from ..common.layout import CliError, Layout
from ..common.network import usual
from ..common.types import Options

TUNE, OTHER = "huddle tune", "--output FILE"
MARK = output_files.mark_of(TUNE)


def place(layout: Layout, options: Options) -> str:
    """
    Returns the path of the file.  The path of --output must be in a directory that exists; the
    directory of a usual place is created.
    """
    if options.output is None:
        path = usual(layout, options.site)
        output_files.make_usual_folder(path, OTHER)
        return path
    if not options.output:
        raise CliError("tune: --output: the name of the file is missing", BAD_USE)
    return os.path.abspath(options.output)


def check_place(path: str, force: bool) -> None:
    """
    Checks before the measurements whether the file can be written, and whether tune wrote the
    former file.
    """
    output_files.check_own(path, TUNE, force, OTHER)


def text(found: wisdom.Wisdom) -> str:
    """Formats the file from what was learned."""
    now = time.strftime("%Y-%m-%d %H:%M")
    return f"{MARK}', {now}: a line for each case, with its times.\n{wisdom.text(found, head='')}"


def network_text(path: str) -> str:
    """
    Returns the network of a file with the comments right above it, or "" if the file has none.
    """
    if not os.path.exists(path):
        return ""
    found, _ = rules.split(rules.content_of(path), lambda line: line.name == rules.NETWORK)
    return "\n".join([*found, ""]) if found else ""


def write(path: str, content: str) -> None:
    """Writes a tuning file.  Keeps the network of the old file, which --network has measured."""
    kept = network_text(path)
    output_files.write(path, f"{content}\n{kept}" if kept else content)


def check_reads(layout: Layout, path: str) -> None:
    """Checks that the library accepts the file."""
    error = layout.tuning_error(path)
    if error:
        raise CliError(
            "the library does not accept the file that was written:"
            f" {error.removeprefix('HUDDLE_TUNING=')}; please report it"
        )
