# SPDX-License-Identifier: BSD-3-Clause
"""
Replaces a file that jobs and commands rewrite, in the way of src/core/job/wisdom_replace.h.
PATH.new is the lock.  A process writes PATH.new.HOST.PID and renames it to PATH.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import socket
import stat
import time
from collections.abc import Callable, Iterator

from . import output_files
from .layout import CliError

# How long a command waits for another writer, and after which time that writer was killed.
WAIT_S, STALE_S = 10, 60
HOST_BYTES = 64  # length of a host's name in the names of files


def remove_data(new: str) -> None:
    """
    Removes the data of other processes that were replacing a file.  new: the lock, which this
    process has, so the others may not replace the file any more.
    """
    for name in glob.glob(f"{glob.escape(new)}.*"):
        if re.search(r"\.[A-Za-z0-9._-]+\.[0-9]+$", name[len(new) :]):
            with contextlib.suppress(OSError):
                os.unlink(name)


def data_path(path: str) -> str:
    """Returns the path of what this process writes to replace a file: PATH.new.HOST.PID."""
    host = re.sub(r"[^A-Za-z0-9._-]", "_", socket.gethostname()[:HOST_BYTES])
    return f"{path}.new.{host}.{os.getpid()}"


def create_lock(path: str) -> int:
    """Creates PATH.new, which is empty.  Returns its handle."""
    new, end = f"{path}.new", time.monotonic() + WAIT_S
    removed_old = False
    while True:
        try:
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            if removed_old:
                remove_data(new)
            return handle
        except FileExistsError as error:
            with contextlib.suppress(FileNotFoundError):
                if abs(time.time() - os.lstat(new).st_mtime) > STALE_S:  # data of a killed process
                    os.unlink(new)
                    removed_old = True
                elif time.monotonic() > end:
                    raise CliError(f"{path} is being written; try again") from error
            time.sleep(0.005)
        except OSError as error:
            raise CliError(f"{path} cannot be written: {error.strerror}") from error


def write_data(data: str, path: str, text: str) -> None:
    """Writes the text into a new file `data`, which will replace the file `path`."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(data)  # data of a killed process that had the same number
    handle = os.open(data, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    with open(handle, "wb") as file:
        with contextlib.suppress(FileNotFoundError):
            os.fchmod(handle, stat.S_IMODE(os.lstat(path).st_mode))
        file.write(text.encode())


@contextlib.contextmanager
def locked(path: str) -> Iterator[Callable[[str], None]]:
    """
    Keeps other commands, and jobs that end, from writing the file meanwhile.  Gives a function to
    replace the file by a text.
    """
    output_files.make_folder(os.path.dirname(path))
    handle = create_lock(path)

    def is_ours() -> bool:
        """
        Returns whether this process created the present lock.  Another process may have mistaken
        the first lock for the lock of a killed process.
        """
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(handle), os.lstat(f"{path}.new"))
        return False

    def replace(text: str) -> None:
        data = data_path(path)
        try:
            write_data(data, path, text)
            if not is_ours():
                raise CliError(f"{path} is being written; try again")
            os.replace(data, path)
        except OSError as error:
            raise CliError(f"{path} cannot be written: {error.strerror}") from error
        finally:
            with contextlib.suppress(OSError):
                os.unlink(data)  # left by a failure

    try:
        yield replace
    finally:
        if is_ours():
            os.unlink(f"{path}.new")
        os.close(handle)
