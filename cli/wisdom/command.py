# SPDX-License-Identifier: BSD-3-Clause
"""
huddle wisdom: prints what huddle has learned on this machine, and takes it to other machines of the
same kind.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import Any

from ..common import collectives as known_collectives
from ..common import output_files, peers, wisdom, wisdom_merge, wisdom_place
from ..common.command_line import Argument, Command, Option
from ..common.exit_status import BAD_USE, DONE
from ..common.layout import CliError, Layout
from ..common.text import count_text, warn
from ..common.types import Options
from . import learned

SHOW, EXPORT, IMPORT, MERGE, FORGET = "show", "export", "import", "merge", "forget"
MAX_PRINTED = 6  # cells that are named one by one

PARAMETERS = (
    Argument(
        "action",
        required=False,
        default=SHOW,
        choices=(SHOW, EXPORT, IMPORT, MERGE, FORGET),
        help="show [COLLECTIVE...], the default; export [FILE]; import FILE; merge FILE...; forget"
        " [COLLECTIVE...]",
    ),
    Argument(
        "names",
        nargs=-1,
        metavar="NAME",
        help="show: print these collectives, with their parameters; forget: forget these"
        " collectives; export, import, merge: files",
    ),
    Option(
        "--mpi",
        metavar="NAME",
        help="use only the wisdom of this MPI: ompi4, mpich5, intel, ..., or a name that show"
        " prints (default: all MPIs)",
    ),
    Option("--all", is_flag=True, help="forget: forget everything"),
    Option(
        "--force",
        is_flag=True,
        help="import, merge: accept files of another MPI or kind of machine; export: replace an"
        " existing file",
    ),
    Option("--json", is_flag=True, help="show: print JSON"),
)
EPILOG = (
    "A case is a collective, a shape of the team and a class of sizes. import replaces what is"
    " known of a case; merge keeps the newer line, or the older one if it is from at least 4 times"
    " as many samples of the case."
    f" {output_files.HELP}"
)


def names_of(options: Options, layout: Layout) -> list[str]:
    """Returns the names of the collectives that the user gave, or of all if none was given."""
    names = [row.name for row in known_collectives.known(layout)]
    for name in options.names:
        known_collectives.find(layout, name, f"wisdom {options.action}")
    return [known_collectives.find(layout, name, "wisdom").name for name in options.names] or names


def of_here(options: Options, layout: Layout) -> list[wisdom.Wisdom]:
    """Returns the files to work on.  Prints a line for each file with which something is wrong."""
    found, refused = wisdom_place.known(layout, options.mpi)
    warn(*refused)
    return found


def nothing_text(options: Options, layout: Layout) -> str:
    of = f" of {', '.join(options.names)}" if options.action == SHOW and options.names else ""
    of += f" with {options.mpi}" if options.mpi else ""
    return f"nothing was learned{of} yet, in {wisdom_place.where(layout)}"


def one_of_here(options: Options, layout: Layout) -> wisdom.Wisdom:
    found = of_here(options, layout)
    if len(found) == 1:
        return found[0]
    there = ", ".join(one.mpi for one in found)
    if not found:
        raise CliError(f"wisdom {options.action}: {nothing_text(options, layout)}")
    same = " (they differ by the machine)" if len({one.mpi for one in found}) == 1 else ""
    raise CliError(
        f"wisdom {options.action}: {len(found)} files are known{same} (accepted: --mpi with one of"
        f" {there})",
        BAD_USE,
    )


def as_json(found: list[wisdom.Wisdom]) -> str:
    return json.dumps(
        [
            {
                "file": one.path,
                "mpi": one.mpi,
                "here": one.here,
                "not_used": one.not_used,
                "not_written": one.not_written,
                "machine": one.machine,
                "cases": [line._asdict() for line in one.last],
                "before": [line._asdict() for line in one.before],
                "unused_lines": len(one.others),
            }
            for one in found
        ],
        indent=2,
    )


def show(options: Options, layout: Layout) -> int:
    names, found = names_of(options, layout), of_here(options, layout)
    found = [
        one._replace(cells=[line for line in one.cells if line.name in names]) for one in found
    ]
    if options.json:
        print(as_json(found))
        return DONE
    unused = [one for one in found if not one.cells]
    found = [one for one in found if one.cells]
    if not found:
        text = nothing_text(options, layout)
        print(
            f"{text[0].upper()}{text[1:]}.  Programs learn, unless HUDDLE_WISDOM=off, and huddle"
            " tune measures at once."
        )
        for one in unused:
            learned.show_unused(one)
        return DONE
    here = [one for one in found if one.here]
    learned.show_all(here, names, bool(options.names))
    others = [one for one in found if not one.here]
    if others:
        print(end="\n" if here else "")
        print(
            "Learned on other machines; programs on this one do not use it.  huddle wisdom import"
            " FILE --force takes it over.\n"
        )
        learned.show_all(others, names, bool(options.names))
    learned.show_legend()
    return DONE


def export(options: Options, layout: Layout) -> int:
    if len(options.names) > 1:
        raise CliError(
            f"wisdom export {options.names[1]}: a word too many (accepted: one FILE)", BAD_USE
        )
    output = options.names[0] if options.names else None
    output_files.check("wisdom export", output)
    if output and os.path.isfile(output) and not options.force:
        raise CliError(f"wisdom export {output}: the file exists (accepted: --force)", BAD_USE)
    found = one_of_here(options, layout)
    if output is None:
        print(wisdom.text(found), end="")
        return DONE
    output_files.write(output, wisdom.text(found))
    print(f"Written: {output}, {count_text(len(found.last), 'case')} of {found.mpi}")
    return DONE


def given(options: Options, layout: Layout) -> list[wisdom.Wisdom]:
    """
    Reads the files named by the user, which may belong to others.  Raises CliError for a file
    without rules.  Prints a line for each file with lines of no version of huddle.
    """
    if not options.names:
        raise CliError(f"wisdom {options.action}: FILE is missing", BAD_USE)
    if options.action == IMPORT and len(options.names) > 1:
        raise CliError(
            f"wisdom import {options.names[1]}: a word too many (accepted: one FILE, or huddle"
            " wisdom merge)",
            BAD_USE,
        )
    try:
        found = [wisdom.read(layout, os.path.abspath(name), own=False) for name in options.names]
    except CliError as error:
        raise CliError(str(error), BAD_USE) from error
    warn(*(one.wrong for one in found if one.wrong and one.cells))
    for name, one in zip(options.names, found):
        if not one.cells:
            raise CliError(f"{name}: it has no rules (accepted: a wisdom or tuning file)", BAD_USE)
    return found


def check_alike(here: wisdom.Wisdom, one: wisdom.Wisdom, force: bool) -> None:
    if force or wisdom.alike(here, one):
        return
    words = [
        f"{other.mpi}, {wisdom.machine_text(other.machine) or 'no machine named'}"
        for other in (one, here)
    ]
    raise CliError(
        f"{one.path}: learned with {words[0]}; here it is {words[1]} (accepted: --force)", BAD_USE
    )


def print_merged(path: str, mpi: str, unused: int, done: wisdom_merge.Merged) -> None:
    """Prints a summary of a file.  unused: its lines that are no decisions."""
    print(
        f"{path}, for {mpi}: {count_text(len(done.added), 'case')} added,"
        f" {len(done.replaced)} replaced, {len(done.kept)} kept as known here,"
        f" {len(done.equal)} equal; {count_text(unused, 'line')} not used"
    )
    for words, lines in (("replaced", done.replaced), ("kept", done.kept)):
        for line in lines[:MAX_PRINTED]:
            choice, samples = wisdom.choice_text(line), wisdom.samples_text(line)
            print(f"  {words}: {learned.cell_text(line)}: {choice}, {samples}")
        if len(lines) > MAX_PRINTED:
            print(f"  {words}: {len(lines) - MAX_PRINTED} more")


def full_name(layout: Layout, mpi: str, about: wisdom.Wisdom) -> str:
    """
    Returns the name by which the library knows an MPI: 'Open MPI 4.1.4' of 'ompi4'.  Raises
    CliError if the name is not known.  about: a file that may be of this MPI.
    """
    if re.search(r" \d+\.\d", mpi) and peers.kind_of(mpi):
        return mpi
    installed = peers.find(layout, (), os.path.join(layout.prefix, "peers")).values()
    files = [one for one in wisdom_place.known(layout)[0] if wisdom_place.is_of(one, mpi)]
    for names in (
        [about.mpi] if wisdom_place.is_of(about, mpi) else [],
        [peers.version_of(one) for one in installed if mpi in (one.name, one.kind)],
        sorted({one.mpi for one in files}),
    ):
        able = [name for name in names if peers.kind_of(name)]
        if len(able) == 1:
            return able[0]
        if able:
            raise CliError(f"--mpi {mpi}: several are known (accepted: {', '.join(able)})", BAD_USE)
    raise CliError(
        f"--mpi {mpi}: its version is not known here (accepted: such as 'Open MPI 4.1.4')", BAD_USE
    )


def mpi_of(options: Options, layout: Layout, one: wisdom.Wisdom) -> str:
    """Returns the library's name of the MPI for which the lines of a file are taken."""
    if options.mpi:
        return full_name(layout, options.mpi, one)
    if "mpi" not in one.machine:
        raise CliError(f"{one.path}: it does not name its MPI (accepted: --mpi NAME)", BAD_USE)
    return one.machine["mpi"]


def take(options: Options, layout: Layout, wins: Callable[..., bool]) -> int:
    """Adds the cells of files to what is known here.  Changes nothing if a file is refused."""
    files = []
    for name, one in zip(options.names, given(options, layout)):
        mpi = mpi_of(options, layout, one)
        here = wisdom_place.place(layout, mpi)
        check_alike(here, one, options.force)
        files.append((name, mpi, here, one))
    for name, mpi, here, one in files:
        done = wisdom_merge.add(layout, here, one.cells, wins, options.force)
        print_merged(name, mpi, one.unused, done)
    return DONE


def forget_files(layout: Layout, mpi: str | None) -> int:
    """Removes files, which need not be files that can be read.  mpi: None for all MPIs."""
    found = wisdom_place.paths(layout)
    if mpi is not None:
        named = wisdom_place.place(layout, "any").named
        wisdom_place.check_mpi(mpi, [wisdom.Wisdom(path, {}, []) for path in found])
        found = [
            path
            for path in found
            if (
                wisdom_place.is_of(wisdom.read(layout, path, named=True), mpi)
                if named
                else wisdom_place.is_named(path, mpi)
            )
        ]
    for path in found:
        wisdom_place.remove(path)
    print(f"Forgotten: {count_text(len(found), 'file')}")
    return DONE


def forget(options: Options, layout: Layout) -> int:
    if options.all == bool(options.names):
        raise CliError("wisdom forget: names nothing (accepted: collectives, or --all)", BAD_USE)
    if options.all:
        return forget_files(layout, options.mpi)
    names = names_of(options, layout)
    total = sum(wisdom.forget(layout, one, names) for one in of_here(options, layout))
    print(f"Forgotten: {count_text(total, 'case')}")
    return DONE


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    if options.all and options.action != FORGET:
        raise CliError(f"wisdom {options.action}: --all: only with forget", BAD_USE)
    if options.force and options.action not in (EXPORT, IMPORT, MERGE):
        raise CliError(
            f"wisdom {options.action}: --force: only with export, import, merge", BAD_USE
        )
    if options.json and options.action != SHOW:
        raise CliError(f"wisdom {options.action}: --json: only with show", BAD_USE)
    wisdom_place.setting(layout)  # refuses a bad value before a file is changed
    if options.action == SHOW:
        return show(options, layout)
    if options.action == EXPORT:
        return export(options, layout)
    if options.action == FORGET:
        return forget(options, layout)
    return take(
        options, layout, wisdom_merge.better if options.action == MERGE else lambda *_: True
    )


COMMAND = Command(main, PARAMETERS, EPILOG)
