# SPDX-License-Identifier: BSD-3-Clause
"""
Files that commands write: as a whole, at the end, or not at all; in a directory that is there.

Whether a file can be written is found out before the work, by doing it: to root, and on a network's
file system, permissions say nothing.
"""

import contextlib
import os
import stat
import tempfile

from .layout import Trouble

HELP = "A file is written as a whole, at the end, or not at all; its directory must be there."
BLOCK = 4096


def why_not(path, replaced=False):
    """
    None, or why no file can be written there.  What is there stays as it is.  replaced: what is
    there must be a file.
    """
    try:
        if not path:
            return "the name of the file is missing"
        folder, mode = os.path.dirname(os.path.realpath(path)), (
            os.stat(path).st_mode if os.path.exists(path) else None
        )
        if mode and stat.S_ISDIR(mode):
            return "it is a directory"
        if replaced and mode and not stat.S_ISREG(mode):
            return "it is no regular file"
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


def check(option, path):
    """Before the work; path None: none was asked for."""
    why = why_not(path) if path is not None else None
    if why:
        raise Trouble(f"{option} {path}: cannot be written: {why}", 2)


def check_folder(option, path):
    """Of files whose names a command chooses."""
    if path is not None and not os.path.isdir(path):
        there = os.path.lexists(path)
        why = "it is not a directory" if there else "there is no such directory"
        raise Trouble(f"{option} {path}: cannot be written:" f" {why}", 2)
    check(option, path and os.path.join(path, "x"))


def make_folder(path):
    """One that belongs to a file, beside it."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise Trouble(f"{path} cannot be made: {error.strerror}") from error


def usual_mode():
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def replace(path, content):
    """What is a regular file, or is not there yet."""
    handle, beside = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".huddle-")
    try:
        with open(handle, "wb") as file:
            os.fchmod(
                handle,
                stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else usual_mode(),
            )
            file.write(content)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def write(path, content, more=""):
    """content: text or bytes.  What is not a file (a pipe, a terminal) is written into."""
    data, real = content.encode() if isinstance(content, str) else content, os.path.realpath(path)
    try:
        if os.path.exists(real) and not os.path.isfile(real):
            with open(real, "wb") as file:
                file.write(data)
        else:
            replace(real, data)
    except OSError as error:
        raise Trouble(f"{path} cannot be written: {error.strerror}{more}") from error
