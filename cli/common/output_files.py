# SPDX-License-Identifier: BSD-3-Clause
"""
Files that commands write: as a whole, at the end, or not at all, in an existing directory.

Before the work starts, a test write finds out whether a file can be written.  Permissions do not
tell for root and on network file systems.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile

from .exit_status import BAD_USE
from .layout import CliError

HELP = "A file is written as a whole, at the end, or not at all; its directory must exist."
BLOCK = 4096


def why_not(path: str, replaced: bool = False) -> str | None:
    """
    Returns the reason why no file can be written at a path, or None.  Does not change an existing
    file.  With `replaced` an existing path must be a regular file.
    """
    try:
        if not path:
            return "the name of the file is missing"
        folder, mode = (
            os.path.dirname(os.path.realpath(path)),
            (os.stat(path).st_mode if os.path.exists(path) else None),
        )
        if mode and stat.S_ISDIR(mode):
            return "it is a directory"
        if replaced and mode and not stat.S_ISREG(mode):
            return "it is not a regular file"
        if not os.path.isdir(folder):
            return f"there is no such directory: {folder}"
        if mode and stat.S_ISREG(mode):
            os.close(os.open(path, os.O_WRONLY))
        if not mode or stat.S_ISREG(mode):
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".huddle-", buffering=0) as file:
                file.write(bytes(BLOCK))
    except OSError as error:
        return error.strerror
    return None


def check(option: str, path: str | None) -> None:
    """
    Raises CliError if a requested file cannot be written.  The path is None if no file was
    requested.
    """
    why = why_not(path) if path is not None else None
    if why:
        raise CliError(f"{option} {path}: cannot be written: {why}", BAD_USE)


def check_folder(option: str, path: str | None) -> None:
    """Raises CliError if a command cannot write files of its own names into a folder."""
    if path is not None and not os.path.isdir(path):
        there = os.path.lexists(path)
        why = "it is not a directory" if there else "there is no such directory"
        raise CliError(f"{option} {path}: cannot be written: {why}", BAD_USE)
    check(option, path and os.path.join(path, "x"))


def make_folder(path: str) -> None:
    """Creates a folder next to the file to which the folder belongs."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise CliError(f"{path} cannot be created: {error.strerror}") from error


def unwritable(path: str, why: str, other: str) -> CliError:
    """Returns the error of a file that cannot be written.  other: how to name another place."""
    return CliError(f"{path} cannot be written: {why} (another place: {other})", BAD_USE)


def make_usual_folder(path: str, other: str) -> None:
    """Creates the folder of a file's usual place."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError as error:
        raise unwritable(path, f"{error.filename}: {error.strerror}", other) from error


def mark_of(command: str) -> str:
    """Returns the begin of the first line of files that a command writes."""
    return f"# Written by '{command}"


def check_own(path: str, command: str, force: bool, other: str) -> None:
    """Raises CliError if a file cannot be written, or exists and was not written by the command."""
    why = why_not(path, replaced=True)
    if why:
        raise unwritable(path, why, other)
    if not force and os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            if not file.readline().startswith(mark_of(command)):
                raise CliError(
                    f"{path} was not written by '{command}'; it is not overwritten (accepted:"
                    f" --force; another place: {other})",
                    BAD_USE,
                )


def usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def replace(path: str, content: bytes) -> None:
    """Replaces or creates a regular file by renaming a temporary file."""
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".huddle-")
    try:
        with open(handle, "wb") as file:
            os.fchmod(
                handle,
                stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else usual_mode(),
            )
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def write(path: str, content: bytes | str, more: str = "") -> None:
    """Writes text or bytes.  Writes directly to a pipe or a terminal."""
    data = content.encode() if isinstance(content, str) else content
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # /dev/stdout has no real path
            with open(path, "wb") as file:
                file.write(data)
        else:
            replace(os.path.realpath(path), data)
    except OSError as error:
        raise CliError(f"{path} cannot be written: {error.strerror}{more}") from error
