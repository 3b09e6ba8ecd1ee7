# SPDX-License-Identifier: BSD-3-Clause
"""Can a file be written at a place?  Found out by doing it, for to root, and on a network's file system, permissions say nothing."""
import os
import stat
import tempfile


def why_not(path, replaced=False):
    """None, or why no file can be written there.  What is there stays as it is.  replaced: what is there is not written but replaced, as a whole."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        if not path:
            return "the name of the file is missing"
        mode = os.stat(path).st_mode if os.path.exists(path) else None
        if mode and stat.S_ISDIR(mode):
            return "it is a directory"
        if replaced and mode and not stat.S_ISREG(mode):
            return "it is no regular file"
        if not os.path.isdir(folder):
            return f"there is no directory {folder}"
        if mode is None or replaced:
            tempfile.NamedTemporaryFile(dir=folder, prefix=".huddle-").close()
        elif stat.S_ISREG(mode):
            os.close(os.open(path, os.O_WRONLY))
    except OSError as error:
        return error.strerror
    return None
