# SPDX-License-Identifier: BSD-3-Clause
"""
Where wisdom is: the user's cache folder, or the file that HUDDLE_WISDOM names; which files are
there, and what keeps programs from using or writing them.
"""

from __future__ import annotations

import os
import re
import shlex

from . import bad_settings, output_files, peers, rules, validators, wisdom
from .exit_status import BAD_USE
from .layout import CliError, Layout
from .wisdom import NAME, Wisdom
from .wisdom_replace import locked

OFF, READ, ON = "off", "read", "on"  # values of HUDDLE_WISDOM; any other one is a file
KIND = re.compile(r"(?:(o)mpi|mpich)(\d+)|intel")


def setting(layout: Layout) -> str:
    """Returns the value of HUDDLE_WISDOM in force.  Raises CliError if the value is not valid."""
    answer = layout.ask("info", "settings", HUDDLE_TUNING="off")
    row = next(row for row in answer["settings"] if row["name"] == "HUDDLE_WISDOM")
    if bad_settings.rejected(row) is not None:
        bad_settings.refuse(layout, HUDDLE_TUNING="off")
    return str(row["value"])


def place(layout: Layout, mpi: str) -> Wisdom:
    """
    Returns the file that programs of an MPI use on this machine, with its path and machine but
    without cells.  The file need not exist.
    """
    found = layout.ask("wisdom", mpi)
    line = rules.parse(found["machine"])
    if not found["file"]:
        raise CliError(
            "there is no place for wisdom: neither XDG_CACHE_HOME nor HOME is an absolute path"
            " (accepted: HUDDLE_WISDOM=FILE)"
        )
    return Wisdom(found["file"], line.conditions if line else {}, [], named=found["named"])


def folder_of(found: Wisdom) -> str:
    """Returns the place of wisdom in words: the named file, or the folder of all files."""
    return found.path if found.named else os.path.dirname(found.path)


def where(layout: Layout) -> str:
    """Returns the file that HUDDLE_WISDOM names, or the user's folder of wisdom."""
    return folder_of(place(layout, "any"))


def paths(layout: Layout) -> list[str]:
    """Returns the paths of the wisdom files, sorted: all of the folder, or the named one."""
    usual = place(layout, "any")
    if usual.named:
        return [usual.path] if os.path.lexists(usual.path) else []
    folder = folder_of(usual)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return [os.path.join(folder, name) for name in sorted(names) if NAME.fullmatch(name)]


def is_named(path: str, mpi: str) -> bool:
    """
    Returns whether the name of a file in the user's folder is that of an MPI, in the forms of
    is_of().  Does not read the file.
    """
    found = NAME.fullmatch(os.path.basename(path))
    kind = KIND.fullmatch(mpi)
    its = re.sub(r"[^a-z0-9.]", "", found[1] if found else "")
    if kind and kind[2]:
        return its.startswith(f"{'openmpi' if kind[1] else 'mpich'}{kind[2]}.")
    return its.startswith("intelmpi") if kind else bool(found) and wisdom.alike_names(mpi, its)


def is_of(found: Wisdom, name: str) -> bool:
    """
    Returns whether a name means the MPI of a file: 'Open MPI 4.1.4', 'openmpi-4.1.4', 'ompi4'.
    """
    in_name = NAME.fullmatch(os.path.basename(found.path))
    return name in (found.mpi, in_name and in_name[1], peers.kind_of(found.mpi))


def is_of_here(layout: Layout, path: str) -> bool:
    """Returns whether programs of some MPI look at a path of the user's folder on this machine."""
    found = NAME.fullmatch(os.path.basename(path))
    name = re.sub(r"-(?=\d)", " ", found[1], count=1) if found else ""
    return bool(found) and place(layout, name).path == path


def check_mpi(mpi: str, found: list[Wisdom]) -> None:
    """Raises CliError for a name that is no MPI's.  Nothing need be known of the MPI."""
    if not KIND.fullmatch(mpi) and not peers.kind_of(mpi) and not any(is_of(f, mpi) for f in found):
        there = "".join(f", {name}" for name in sorted({one.mpi for one in found}))
        raise CliError(
            f"--mpi {validators.shown(mpi)}: not an MPI that huddle knows (accepted: ompi4, mpich5,"
            f" intel, ...{there})",
            BAD_USE,
        )


def known(layout: Layout, mpi: str | None = None) -> tuple[list[Wisdom], list[str]]:
    """
    Returns the files of the user's folder, or the file of HUDDLE_WISDOM, and complaints about these
    files and about unreadable files.  mpi: None for all MPIs.
    """
    found, refused = [], []
    named = place(layout, "any").named
    for path in paths(layout):
        try:
            one = wisdom.read(layout, path, named=named)
            found.append(one._replace(here=named or is_of_here(layout, path)))
        except CliError as error:
            refused.append(str(error))
    refused += [one.wrong for one in found if one.wrong]
    if mpi is not None:
        check_mpi(mpi, found)
        found = [one for one in found if is_of(one, mpi)]
    return found, refused


def remedy(path: str) -> str:
    """Returns the remedy for a file that programs refuse."""
    quoted = shlex.quote(path)
    return f"huddle wisdom import {quoted} --force takes it over; rm {quoted} begins anew"


def check_place(layout: Layout, at: Wisdom) -> None:
    """
    Raises CliError if programs would not add to a wisdom file, or if the file cannot be read or
    replaced, before a command works for minutes to make its lines.  at: a result of place().
    """
    folder = os.path.dirname(os.path.abspath(at.path))
    if not at.named:
        output_files.make_folder(folder)
    if os.path.lexists(at.path):
        check_written(wisdom.read(layout, at.path, named=at.named, mpi=at.mpi))
    if why := output_files.why_not(os.path.join(folder, "x")):
        raise CliError(f"{at.path} cannot be written: {why}")


def check_written(found: Wisdom) -> None:
    """Raises CliError if programs add nothing to a file: it is of another machine or MPI."""
    if found.not_written:
        raise CliError(f"{found.not_written} ({remedy(found.path)})")


def unkept(layout: Layout) -> tuple[str, str] | None:
    """
    Returns why programs cannot keep their findings, and the remedy, or None.  Also reports an
    XDG_CACHE_HOME without effect.
    """
    try:
        value = setting(layout)
    except CliError:  # the job has reported it
        return None
    if value in (OFF, READ):
        return None
    try:
        usual = place(layout, "any")
    except CliError as error:
        return str(error), "set HOME"
    existing = os.path.dirname(os.path.abspath(usual.path))
    while not usual.named and not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    why = output_files.why_not(os.path.join(existing, f"{os.path.basename(usual.path)}.new"))
    change = "HUDDLE_WISDOM=FILE or XDG_CACHE_HOME=FOLDER names another place"
    if not os.path.lexists(existing):
        why = f"{existing} does not exist"
        change = f"programs do not create this folder, mkdir -p {shlex.quote(existing)} does"
    elif not os.path.isdir(existing):
        why = f"{existing} is not a directory"
    elif why:
        why = f"{existing} cannot be written: {why}"
    if why:
        text = f"programs cannot keep what they learn in {folder_of(usual)}: {why}"
        return text, change
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if cache and not os.path.isabs(cache) and not usual.named:
        text = f"kept in {folder_of(usual)}, as XDG_CACHE_HOME={cache} is not an absolute path"
        return text, "set an absolute path, or unset it"
    return None


def remove(path: str) -> None:
    """Removes a file, even an unreadable file."""
    with locked(path):
        try:
            os.unlink(path)
        except OSError as error:
            raise CliError(f"{path} cannot be removed: {error.strerror}") from error
